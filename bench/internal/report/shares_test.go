package report

import (
	"testing"
)

// What the tool prints, shortened: a write through TLS that ends in the kernel, a write of the journal
// that does not, and a sample of nothing that has a name.
const rawProfile = `PeriodType: cpu nanoseconds
Period: 10000000
Samples:
samples/count cpu/nanoseconds
          3   30000000: 1 2 
          1   10000000: 3 
          6   60000000: 4 
Locations
     1: 0x401000 M=1 internal/runtime/syscall.Syscall6 /go/src/asm.s:36:0 s=0
     2: 0x402000 M=1 crypto/tls.(*Conn).write /go/src/crypto/tls/conn.go:930:0 s=0
             crypto/tls.(*Conn).Write /go/src/crypto/tls/conn.go:1210:0 s=0
     3: 0x403000 M=1 github.com/troupe-api/troupe/persist.(*Journal).Append /x/journal.go:1:0 s=0
     4: 0x404000 M=1 main.main /x/main.go:1:0 s=0
Mappings
1: 0x400000/0x900000/0x0 /x/troupe  [FN]
`

func TestShares(t *testing.T) {
	p, err := parseProfile([]byte(rawProfile))
	if err != nil {
		t.Fatal(err)
	}
	of := make(map[string]float64)
	for i, share := range p.ofParts() {
		of[shares[i].what] = share
	}
	for what, want := range map[string]float64{
		"all system calls": 30, "writing to clients through TLS": 30,
		"journal: frames, checksums, write and sync": 10, "reading from clients through TLS": 0,
	} {
		if of[what] != want {
			t.Errorf("%s has %v %%, want %v", what, of[what], want)
		}
	}
	if _, err := parseProfile([]byte("Samples:\nLocations\n")); err == nil {
		t.Error("no error for a profile without samples")
	}
}
