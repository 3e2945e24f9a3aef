package command

import "testing"

func TestReadOnlyMapping(t *testing.T) {
	for _, c := range []struct {
		line        string
		start, size uintptr
		ok          bool
	}{
		{"00401000-01141000 r-xp 00001000 08:01 1234                       /usr/bin/troupe\n", 0x401000, 0xd40000, true},
		{"01141000-01fc0000 r--p 00d41000 08:01 1234                       /usr/bin/troupe\n", 0x1141000, 0xe7f000, true},
		{"01fc0000-020a3000 rw-p 01bc0000 08:01 1234                       /usr/bin/troupe\n", 0, 0, false},
		{"01fc0000-020a3000 -w-p 01bc0000 08:01 1234                       /usr/bin/troupe\n", 0, 0, false},
		{"00401000-01141000 r-xp 00001000 08:01 1234                       /usr/lib/troupe\n", 0, 0, false},
		{"00401000-01141000 r-xp 00001000 08:01 1234                       /usr/bin/troupe (deleted)\n", 0, 0, false},
		{"020a3000-0410d000 rw-p 00000000 00:00 0\n", 0, 0, false},
		{"01141000-00401000 r-xp 00001000 08:01 1234                       /usr/bin/troupe\n", 0, 0, false},
		{"x-y r-xp 00001000 08:01 1234                       /usr/bin/troupe\n", 0, 0, false},
		{"", 0, 0, false},
	} {
		if start, size, ok := readOnlyMapping(c.line, "/usr/bin/troupe"); start != c.start || size != c.size || ok != c.ok {
			t.Errorf("%q: %x, %x, %v", c.line, start, size, ok)
		}
	}
	releaseProgram() // the program continues to run
}
