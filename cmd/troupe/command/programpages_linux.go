package command

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// releaseProgram drops the pages of the executable from resident memory. Linux maps many pages
// around each accessed page, so nearly the whole executable is resident after startup, although
// most of it is never used again. The pages stay in the page cache and are mapped again on access.
// Only read-only mappings are released, because they are identical to the file.
func releaseProgram() {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return // without /proc the pages stay, which is harmless
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	for line := range strings.Lines(string(maps)) {
		if start, size, ok := readOnlyMapping(line, program); ok {
			// On failure, the pages stay mapped.
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, start, size, syscall.MADV_DONTNEED)
		}
	}
}

// readOnlyMapping returns the address range of a read-only mapping of file, given its line in
// /proc/self/maps, such as:
//
//	00401000-01141000 r-xp 00001000 08:01 1234 /usr/bin/troupe
func readOnlyMapping(line, file string) (start, size uintptr, ok bool) {
	fields := strings.Fields(line)
	if len(fields) != 6 || fields[5] != file || !strings.HasPrefix(fields[1], "r-") {
		return 0, 0, false
	}
	from, to, _ := strings.Cut(fields[0], "-")
	begin, err := strconv.ParseUint(from, 16, 64)
	if err != nil {
		return 0, 0, false
	}
	end, err := strconv.ParseUint(to, 16, 64)
	if err != nil || end <= begin {
		return 0, 0, false
	}
	return uintptr(begin), uintptr(end - begin), true
}
