package build

import (
	"runtime/debug"
	"testing"
)

func TestVersion(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, want string
		info       debug.BuildInfo
	}{
		{"release", "0.3.0", debug.BuildInfo{Main: debug.Module{Path: module, Version: "v0.3.0"}}},
		{"release candidate", "0.3.0-rc.1", debug.BuildInfo{Main: debug.Module{Path: module, Version: "v0.3.0-rc.1"}}},
		{"commit", development, debug.BuildInfo{Main: debug.Module{Path: module, Version: "v0.3.1-0.20261130185332-72b692a72abc"}}},
		{"modified", development, debug.BuildInfo{Main: debug.Module{Path: module, Version: "v0.3.0+dirty"}}},
		{"no version control", development, debug.BuildInfo{Main: debug.Module{Path: module, Version: "(devel)"}}},
		{"embedded", "0.3.0", debug.BuildInfo{
			Main: debug.Module{Path: "example.com/m", Version: "v1.0.0"},
			Deps: []*debug.Module{{Path: "example.com/n", Version: "v2.0.0"}, {Path: module, Version: "v0.3.0"}},
		}},
		{"embedded from a directory", development, debug.BuildInfo{
			Main: debug.Module{Path: "example.com/m", Version: "v1.0.0"},
			Deps: []*debug.Module{{Path: module, Version: "v0.3.0", Replace: &debug.Module{Path: "../troupe"}}},
		}},
	} {
		if got := version(&test.info); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}
