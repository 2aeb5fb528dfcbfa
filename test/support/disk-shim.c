/*
 * Stands between a process and its disk (LD_PRELOAD). By the environment it
 *   FLEETQ_SHIM_FSYNC_DELAY_US   makes every fsync and fdatasync slower by this much
 *   FLEETQ_SHIM_LOG              appends a line for every write, sync and truncation of a file whose
 *                                path contains FLEETQ_SHIM_LOG_PATH: "op result bytes offset path"
 *   FLEETQ_SHIM_FAIL_OP          lets 'write' or 'fsync' fail with FLEETQ_SHIM_FAIL_ERRNO (EIO or
 *                                ENOSPC) on paths that contain FLEETQ_SHIM_FAIL_PATH, for as long as
 *                                the file FLEETQ_SHIM_CONTROL exists
 * A line is written when the call has returned, by the thread that made it: in one thread the order
 * of the lines is the order of the calls.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static long delay_us;
static int log_fd = -1;
static const char *log_path, *fail_op, *fail_path, *control;
static int fail_errno;

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
  if (log) log_fd = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
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

static void note(const char *op, int fd, long result, long bytes, long offset) {
  char path[PATH_MAX], line[PATH_MAX + 128];
  int kept = errno;
  if (log_fd < 0 || fd == log_fd || !path_of(fd, path)) return;
  if (log_path && !strstr(path, log_path)) return;
  int length = snprintf(line, sizeof line, "%s %ld %ld %ld %s\n", op, result, bytes, offset, path);
  syscall(SYS_write, log_fd, line, (size_t)length);
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
  ssize_t result = fails("write", fd) ? -1 : next(fd, data, bytes);
  note("write", fd, result, (long)bytes, -1);
  return result;
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  static __typeof__(&writev) next;
  if (!next) next = REAL(writev);
  ssize_t result = fails("write", fd) ? -1 : next(fd, parts, count);
  note("write", fd, result, (long)result, -1);
  return result;
}

ssize_t pwrite(int fd, const void *data, size_t bytes, off_t offset) {
  static __typeof__(&pwrite) next;
  if (!next) next = REAL(pwrite);
  ssize_t result = fails("write", fd) ? -1 : next(fd, data, bytes, offset);
  note("write", fd, result, (long)bytes, (long)offset);
  return result;
}

ssize_t pwrite64(int fd, const void *data, size_t bytes, off64_t offset) {
  static __typeof__(&pwrite64) next;
  if (!next) next = REAL(pwrite64);
  ssize_t result = fails("write", fd) ? -1 : next(fd, data, bytes, offset);
  note("write", fd, result, (long)bytes, (long)offset);
  return result;
}

int fsync(int fd) {
  static __typeof__(&fsync) next;
  if (!next) next = REAL(fsync);
  slow_down();
  int result = fails("fsync", fd) ? -1 : next(fd);
  note("sync", fd, result, 0, -1);
  return result;
}

int fdatasync(int fd) {
  static __typeof__(&fdatasync) next;
  if (!next) next = REAL(fdatasync);
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
