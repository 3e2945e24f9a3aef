package command

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// releaseProgram takes the pages of the program itself out of the memory of this process. Linux maps many around each one
// that is needed, so that after a start nearly all of the program is there, most of it for good and for nothing. The pages
// stay in the page cache; those that are used again are mapped again, without reading a disk.
//
// Only mappings of the program that nobody can write to are concerned: their pages are those of the file.
func releaseProgram() {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return // without /proc the pages stay, which harms nobody
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	for line := range strings.Lines(string(maps)) {
		if start, size, ok := readOnlyMapping(line, program); ok {
			// What fails leaves the pages where they are.
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, start, size, syscall.MADV_DONTNEED)
		}
	}
}

// readOnlyMapping is the place of a mapping of a file that cannot be written to, by its line in /proc/self/maps.
//
// Example: 00401000-01141000 r-xp 00001000 08:01 1234 /usr/bin/troupe
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
