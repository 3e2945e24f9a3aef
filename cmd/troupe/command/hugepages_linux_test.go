package command

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
)

func TestHugeHeap(t *testing.T) {
	h := newHugeHeap()
	for _, allowed := range []bool{true, false, true} {
		h.allow(allowed)
		want := map[bool]string{true: " hg", false: " nh"}[allowed]
		if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
			want = "" // the kernel has no huge pages
		}
		if flags := mappingFlags(t, h.start); !strings.Contains(flags, want) {
			t.Errorf("allowed %t: %q, want%s", allowed, flags, want)
		}
	}
}

func TestLimitedAddresses(t *testing.T) {
	var limit syscall.Rlimit
	must.Succeed(t, syscall.Getrlimit(syscall.RLIMIT_AS, &limit))
	defer func() { must.Succeed(t, syscall.Setrlimit(syscall.RLIMIT_AS, &limit)) }()
	must.Succeed(t, syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: 1 << 46, Max: limit.Max}))
	if h := newHugeHeap(); h.size != 0 {
		t.Errorf("%d bytes are reserved", h.size)
	}
}

func mappingFlags(t *testing.T, address uintptr) string {
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	within := false
	for line := range strings.Lines(string(maps)) {
		var from, to uintptr
		if n, _ := fmt.Sscanf(line, "%x-%x ", &from, &to); n == 2 {
			within = from <= address && address < to
		}
		if flags, ok := strings.CutPrefix(line, "VmFlags:"); ok && within {
			return flags
		}
	}
	t.Fatalf("%x is not mapped", address)
	return ""
}
