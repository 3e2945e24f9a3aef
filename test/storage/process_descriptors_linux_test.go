package storage

import (
	"syscall"
	"testing"
	"unsafe"
)

func limitFiles(t *testing.T, pid int, n uint64) {
	t.Helper()
	limit := syscall.Rlimit{Cur: n, Max: n}
	if _, _, err := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), syscall.RLIMIT_NOFILE, uintptr(unsafe.Pointer(&limit)), 0, 0, 0); err != 0 {
		t.Fatal(err)
	}
}

// TestDescriptorsRunOut checks that the daemon keeps serving when unauthenticated connections use
// all file descriptors.
func TestDescriptorsRunOut(t *testing.T) {
	p := serveProcess(t, t.TempDir())
	limitFiles(t, p.Cmd.Process.Pid, 200)
	openSilentConnections(t, p, 400)
	for range 5 {
		p.timeGet(t)
	}
}
