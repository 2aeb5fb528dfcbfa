# A container by hand: the image's files and the system's libraries, all of them read-only, volumes
# where the manifest mounts them, a process number 1 of an unprivileged user, and nothing else.
# Called in namespaces of its own: container.sh <root> <app> <node> <uid> <volumes…> -- <command…>
set -eu
root=$1 app=$2 node=$3 user=$4
shift 4
mount --make-rprivate /
mount -t tmpfs -o mode=755 container "$root"
for name in bin sbin lib lib64 usr etc; do
  if [ -L "/$name" ]; then
    cp -P "/$name" "$root/$name"
  elif [ -d "/$name" ]; then
    mkdir "$root/$name"
    mount --bind "/$name" "$root/$name"
    mount -o remount,bind,ro "$root/$name"
  fi
done
mkdir "$root/proc" "$root/dev" "$root/app" "$root/node"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --bind "$app" "$root/app"
mount -o remount,bind,ro "$root/app"
touch "$root/node/node"
mount --bind "$node" "$root/node/node"
while [ "$1" != -- ]; do
  mkdir -p "$root/$2"
  mount --bind "$1" "$root/$2"
  shift 2
done
shift
mount -o remount,ro "$root"
exec chroot "$root" setpriv --reuid "$user" --regid "$user" --groups "$user" \
  --pdeathsig KILL --no-new-privs --inh-caps=-all --bounding-set=-all env -C /app "$@"
