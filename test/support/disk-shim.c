/*
 * Stands between a process and its disk (LD_PRELOAD). By the environment it
 *   FLEETQ_SHIM_FSYNC_DELAY_US   makes every fsync and fdatasync slower by this much
 *   FLEETQ_SHIM_LOG              appends a line for every write, sync and truncation of a file whose
 *                                path contains FLEETQ_SHIM_LOG_PATH: "op result bytes offset path"
 *   FLEETQ_SHIM_FAIL_OP          lets 'write' or 'fsync' fail with FLEETQ_SHIM_FAIL_ERRNO (EIO or
 *                                ENOSPC) on paths that contain FLEETQ_SHIM_FAIL_PATH, for as long as
 *                                the file FLEETQ_SHIM_CONTROL exists
 *   FLEETQ_SHIM_DATA             appends the bytes of every logged write to this file, in that order;
 *                                then the log has what happens to names too: create, rename, unlink
 *   FLEETQ_SHIM_KILL             'write 7' or 'sync 7': ends the process by SIGKILL in place of its
 *                                7th such call on a path that contains FLEETQ_SHIM_KILL_PATH, or
 *                                ends with it where that ends with '$'
 * A line is written when the call has returned, by the thread that made it: in one thread the order
 * of the lines is the order of the calls.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static long delay_us;
static int log_fd = -1, data_fd = -1;
static const char *log_path, *fail_op, *fail_path, *control, *kill_path;
static int fail_errno;
static char kill_op[16];
static long kill_left;

static int is_at(const char *path, const char *wanted) {
  size_t length = strlen(wanted), whole = strlen(path);
  if (length == 0 || wanted[length - 1] != '$') return strstr(path, wanted) != NULL;
  length--;
  return whole >= length && strncmp(path + whole - length, wanted, length) == 0;
}

static int open_own(const char *file) {
  return syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
}

__attribute__((constructor)) static void shim_start(void) {
  const char *delay = getenv("FLEETQ_SHIM_FSYNC_DELAY_US");
  const char *log = getenv("FLEETQ_SHIM_LOG");
  const char *name = getenv("FLEETQ_SHIM_FAIL_ERRNO");
  delay_us = delay ? atol(delay) : 0;
  log_path = getenv("FLEETQ_SHIM_LOG_PATH");
  fail_op = getenv("FLEETQ_SHIM_FAIL_OP");
  fail_path = getenv("FLEETQ_SHIM_FAIL_PATH");
  control = getenv("FLEETQ_SHIM_CONTROL");
  fail_errno = name && strcmp(name, "ENOSPC") == 0 ? ENOSPC : EIO;
  const char *data = getenv("FLEETQ_SHIM_DATA");
  const char *killing = getenv("FLEETQ_SHIM_KILL");
  kill_path = getenv("FLEETQ_SHIM_KILL_PATH");
  if (killing && sscanf(killing, "%15s %ld", kill_op, &kill_left) != 2) abort();
  if (log) log_fd = open_own(log);
  if (data) data_fd = open_own(data);
}

#define REAL(name) ((__typeof__(&name))real(#name))
static void *real(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (!found) abort();
  return found;
}

static int path_of(int fd, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return 1;
}

/* Whether this call has to fail; errno says how. */
static int fails(const char *op, int fd) {
  char path[PATH_MAX];
  if (!fail_op || !control || strcmp(op, fail_op) != 0) return 0;
  if (access(control, F_OK) != 0 || !path_of(fd, path)) return 0;
  if (fail_path && !strstr(path, fail_path)) return 0;
  errno = fail_errno;
  return 1;
}

/* Ends the process in place of the call it was told. */
static void die_at(const char *op, int fd) {
  char path[PATH_MAX], line[64];
  if (kill_left <= 0 || strcmp(op, kill_op) != 0 || !path_of(fd, path)) return;
  if (kill_path && !is_at(path, kill_path)) return;
  if (--kill_left > 0) return;
  int length = snprintf(line, sizeof line, "dying at %s\n", op);
  syscall(SYS_write, 1, line, (size_t)length);
  syscall(SYS_kill, getpid(), SIGKILL);
}

static void note_path(const char *op, const char *path, long result, long bytes, long offset) {
  char line[2 * PATH_MAX + 128];
  int kept = errno;
  if (log_fd < 0 || (log_path && !strstr(path, log_path))) return;
  int length = snprintf(line, sizeof line, "%s %ld %ld %ld %s\n", op, result, bytes, offset, path);
  syscall(SYS_write, log_fd, line, (size_t)length);
  errno = kept;
}

static void note(const char *op, int fd, long result, long bytes, long offset) {
  char path[PATH_MAX];
  if (log_fd < 0 || fd == log_fd || !path_of(fd, path)) return;
  note_path(op, path, result, bytes, offset);
}

/* The bytes of a write that is noted, before its line. */
static void keep(int fd, const void *data, long result) {
  char path[PATH_MAX];
  int kept = errno;
  if (data_fd < 0 || result <= 0 || !path_of(fd, path)) return;
  if (!log_path || strstr(path, log_path)) syscall(SYS_write, data_fd, data, (size_t)result);
  errno = kept;
}

static void slow_down(void) {
  struct timespec left = {delay_us / 1000000, delay_us % 1000000 * 1000};
  if (delay_us > 0)
    while (nanosleep(&left, &left) != 0 && errno == EINTR) continue;
}

ssize_t write(int fd, const void *data, size_t bytes) {
  static __typeof__(&write) next;
  if (!next) next = REAL(write);
  die_at("write", fd);
  ssize_t result = fails("write", fd) ? -1 : next(fd, data, bytes);
  keep(fd, data, result);
  note("write", fd, result, (long)bytes, -1);
  return result;
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  static __typeof__(&writev) next;
  if (!next) next = REAL(writev);
  die_at("write", fd);
  ssize_t result = fails("write", fd) ? -1 : next(fd, parts, count);
  long left = result;
  for (int part = 0; part < count && left > 0; part++) {
    long bytes = left < (long)parts[part].iov_len ? left : (long)parts[part].iov_len;
    keep(fd, parts[part].iov_base, bytes);
    left -= bytes;
  }
  note("write", fd, result, (long)result, -1);
  return result;
}

ssize_t pwrite(int fd, const void *data, size_t bytes, off_t offset) {
  static __typeof__(&pwrite) next;
  if (!next) next = REAL(pwrite);
  die_at("write", fd);
  ssize_t result = fails("write", fd) ? -1 : next(fd, data, bytes, offset);
  keep(fd, data, result);
  note("write", fd, result, (long)bytes, (long)offset);
  return result;
}

ssize_t pwrite64(int fd, const void *data, size_t bytes, off64_t offset) {
  static __typeof__(&pwrite64) next;
  if (!next) next = REAL(pwrite64);
  die_at("write", fd);
  ssize_t result = fails("write", fd) ? -1 : next(fd, data, bytes, offset);
  keep(fd, data, result);
  note("write", fd, result, (long)bytes, (long)offset);
  return result;
}

int fsync(int fd) {
  static __typeof__(&fsync) next;
  if (!next) next = REAL(fsync);
  die_at("sync", fd);
  slow_down();
  int result = fails("fsync", fd) ? -1 : next(fd);
  note("sync", fd, result, 0, -1);
  return result;
}

int fdatasync(int fd) {
  static __typeof__(&fdatasync) next;
  if (!next) next = REAL(fdatasync);
  die_at("sync", fd);
  slow_down();
  int result = fails("fsync", fd) ? -1 : next(fd);
  note("sync", fd, result, 0, -1);
  return result;
}

int ftruncate(int fd, off_t bytes) {
  static __typeof__(&ftruncate) next;
  if (!next) next = REAL(ftruncate);
  int result = next(fd, bytes);
  note("truncate", fd, result, (long)bytes, -1);
  return result;
}

int ftruncate64(int fd, off64_t bytes) {
  static __typeof__(&ftruncate64) next;
  if (!next) next = REAL(ftruncate64);
  int result = next(fd, bytes);
  note("truncate", fd, result, (long)bytes, -1);
  return result;
}

static int open_noted(int (*next)(const char *, int, ...), const char *path, int flags, mode_t mode) {
  int is_new = data_fd >= 0 && (flags & O_CREAT) && access(path, F_OK) != 0;
  int fd = next(path, flags, mode);
  if (data_fd >= 0 && fd >= 0 && (is_new || (flags & O_TRUNC))) note("create", fd, 0, 0, -1);
  return fd;
}

int open(const char *path, int flags, ...) {
  static __typeof__(&open) next;
  va_list more;
  if (!next) next = REAL(open);
  va_start(more, flags);
  mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
  va_end(more);
  return open_noted(next, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  static __typeof__(&open64) next;
  va_list more;
  if (!next) next = REAL(open64);
  va_start(more, flags);
  mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
  va_end(more);
  return open_noted(next, path, flags, mode);
}

int rename(const char *from, const char *to) {
  static __typeof__(&rename) next;
  char both[2 * PATH_MAX];
  if (!next) next = REAL(rename);
  int result = next(from, to);
  snprintf(both, sizeof both, "%s|%s", from, to);
  if (data_fd >= 0) note_path("rename", both, result, 0, -1);
  return result;
}

int unlink(const char *path) {
  static __typeof__(&unlink) next;
  if (!next) next = REAL(unlink);
  int result = next(path);
  if (data_fd >= 0) note_path("unlink", path, result, 0, -1);
  return result;
}
