package command

import (
	"math"
	"runtime/debug"
	"syscall"
	"unsafe"
)

const (
	// hugeHeapBytes is the size of the address range that may use huge pages. The rest of a
	// larger heap uses small pages.
	hugeHeapBytes = 256 << 20
	hugePageBytes = 2 << 20
)

// A hugeHeap is a range of the Go heap's addresses that may use huge pages. With 4 KiB pages, page
// faults cost up to an eighth of a write's CPU time in a virtual machine.
type hugeHeap struct {
	start, size uintptr
	allowed     bool
}

// newHugeHeap reserves a range of addresses for the next allocations of the Go heap and allows huge
// pages in it. It must map the range first, because Linux applies MADV_HUGEPAGE only to mapped
// addresses. If the address space is limited (ulimit -v), it reserves nothing.
func newHugeHeap() *hugeHeap {
	var addresses syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &addresses); err != nil || addresses.Cur != math.MaxUint64 {
		return &hugeHeap{}
	}
	percent := debug.SetGCPercent(-1)
	reserved := make([]byte, hugeHeapBytes) // not accessed, so it takes no memory
	address := uintptr(unsafe.Pointer(unsafe.SliceData(reserved)))
	start := (address + hugePageBytes - 1) &^ (hugePageBytes - 1)
	h := &hugeHeap{start: start, size: (address + hugeHeapBytes - start) &^ (hugePageBytes - 1)}
	h.allow(true)
	debug.FreeOSMemory() // frees reserved
	debug.SetGCPercent(percent)
	return h
}

// allow switches huge pages on or off. They are off while the process is idle, because the kernel
// would otherwise gradually fill released memory with huge pages.
func (h *hugeHeap) allow(allowed bool) {
	if h.size == 0 || h.allowed == allowed {
		return
	}
	h.allowed = allowed
	advice := uintptr(syscall.MADV_NOHUGEPAGE)
	if allowed {
		advice = syscall.MADV_HUGEPAGE
	}
	// On failure, the heap uses small pages.
	_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, h.start, h.size, advice)
}
