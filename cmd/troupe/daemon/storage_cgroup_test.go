package daemon

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/cases"
	"github.com/troupe-api/troupe/internal/must"
)

func TestCgroupLimit(t *testing.T) {
	for _, c := range cases.Read(t, "testdata/cgroups.txt") {
		root := t.TempDir()
		var path string
		files := map[string]string{}
		var want int64
		for _, line := range c.Lines {
			switch {
			case strings.HasPrefix(line, "/"):
				path = filepath.Join(root, line)
				files[path] = ""
			case strings.HasPrefix(line, "=> "):
				want = must.Get(strconv.ParseInt(line[3:], 10, 64))(t)
			default:
				files[path] += line[2:] + "\n"
			}
		}
		for path, text := range files {
			must.Succeed(t, os.MkdirAll(filepath.Dir(path), 0o700))
			must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
		}
		got, ok := findCgroupLimit(root)
		if ok != (want > 0) || ok && (got.bytes != want || got.file == "") || !ok && got.bytes != math.MaxInt64 {
			t.Errorf("%s: %+v, %t, want %d", c.Name, got, ok, want)
		}
	}
}
