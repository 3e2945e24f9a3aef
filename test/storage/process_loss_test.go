package storage

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
)

// TestLossIsReported corrupts or removes the newest journal file or another required file, after a
// stop and after a kill. The daemon must refuse to start and report the file, and verify must
// report the damage. Once an operator accepts the data loss, no resource version is reused.
func TestLossIsReported(t *testing.T) {
	newest := func(dir string) string {
		files, err := filepath.Glob(filepath.Join(dir, "journal", "*.journal"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%v %v", files, err)
		}
		return files[len(files)-1]
	}
	for name, test := range map[string]struct {
		kill bool
		take func(dir string) (file string, err error)
	}{
		"deleted":               {false, func(dir string) (string, error) { return newest(dir), os.Remove(newest(dir)) }},
		"deleted after a kill":  {true, func(dir string) (string, error) { return newest(dir), os.Remove(newest(dir)) }},
		"emptied after a kill":  {true, func(dir string) (string, error) { return newest(dir), os.Truncate(newest(dir), 0) }},
		"half":                  {false, func(dir string) (string, error) { return newest(dir), truncateToHalf(newest(dir)) }},
		"no labels":             {false, func(dir string) (string, error) { return "labels", os.Remove(filepath.Join(dir, "labels")) }},
		"no lock, after a kill": {true, func(dir string) (string, error) { return "lock", os.Remove(filepath.Join(dir, "lock")) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data")
			p := serveProcess(t, dir)
			var last uint64
			for _, n := range []string{"a", "b"} {
				o := must.Get(parse(p.caller().must(t, 201, "POST", configMaps, numberedConfigMap(n, 1))))(t)
				last = o.version()
			}
			if test.kill {
				p.Kill()
			} else {
				p.Stop()
			}
			file := must.Get(test.take(dir))(t)
			for range 2 {
				code, out := command(t, "serve", "--data-dir", dir, "--secure-port", "0")
				if code != 1 || !strings.Contains(out, file) || !strings.Contains(out, "--accept-data-loss") {
					t.Fatalf("status %d\n%s", code, out)
				}
			}
			if code, out := command(t, "verify", "--data-dir", dir); code != 1 || !strings.Contains(out, "damaged") {
				t.Errorf("verify: status %d\n%s", code, out)
			}
			p = serveProcess(t, dir, "--accept-data-loss")
			o, err := parse(p.caller().must(t, 201, "POST", configMaps, numberedConfigMap("c", 1)))
			if err != nil || o.version() <= last {
				t.Errorf("version %d is given out after %d: %v", o.version(), last, err)
			}
			p.Stop()
			p = serveProcess(t, dir)
			p.caller().must(t, 200, "GET", configMaps+"/c", "")
			p.Stop()
		})
	}
}

func truncateToHalf(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return os.Truncate(path, info.Size()/2)
}
