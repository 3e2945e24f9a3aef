package daemon

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
)

// TestCgroupLimit finds limits in file trees like those of kernels and containers.
func TestCgroupLimit(t *testing.T) {
	const (
		unified = "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
		older   = "35 23 0:31 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n34 23 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
	)
	for _, test := range []struct {
		name          string
		group, mounts string
		files         map[string]string
		want          int64 // 0: none
	}{
		{"none at all", "", "", nil, 0},
		{"no limit", "0::/user.slice/a.scope\n", unified, map[string]string{
			"sys/fs/cgroup/user.slice/a.scope/memory.max": "max\n",
		}, 0},
		{"of the service", "0::/system.slice/troupe.service\n", unified, map[string]string{
			"sys/fs/cgroup/system.slice/troupe.service/memory.max": "536870912\n",
			"sys/fs/cgroup/system.slice/memory.max":                "max\n",
		}, 512 << 20},
		{"of a slice around the service", "0::/a.slice/a-b.slice/troupe.service\n", unified, map[string]string{
			"sys/fs/cgroup/a.slice/a-b.slice/troupe.service/memory.max": "536870912\n",
			"sys/fs/cgroup/a.slice/a-b.slice/memory.max":                "max\n",
			"sys/fs/cgroup/a.slice/memory.max":                          "268435456\n",
		}, 256 << 20},
		{"of another service", "0::/system.slice/troupe.service\n", unified, map[string]string{
			"sys/fs/cgroup/system.slice/troupe.service2/memory.max": "1048576\n",
		}, 0},
		{"of a container with a namespace", "0::/\n", unified, map[string]string{
			"sys/fs/cgroup/memory.max": "1073741824\n",
		}, 1 << 30},
		{"of a container without a namespace", "0::/docker/abc\n",
			"29 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n", map[string]string{
				"sys/fs/cgroup/memory.max": "1073741824\n",
			}, 1 << 30},
		{"of a group in a container", "0::/docker/abc/inner\n",
			"29 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n", map[string]string{
				"sys/fs/cgroup/memory.max":       "1073741824\n",
				"sys/fs/cgroup/inner/memory.max": "104857600\n",
			}, 100 << 20},
		{"of one outside of the namespace", "0::/../other\n", unified, map[string]string{
			"sys/fs/cgroup/memory.max":    "1073741824\n",
			"sys/fs/other/memory.max":     "1048576\n",
			"sys/fs/cgroup/..other/x/y/z": "",
		}, 1 << 30},
		{"older", "9:cpu,cpuacct:/x\n4:memory:/system.slice/troupe.service\n", older, map[string]string{
			"sys/fs/cgroup/memory/system.slice/troupe.service/memory.limit_in_bytes": "536870912\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":                             "9223372036854771712\n",
			"sys/fs/cgroup/cpu/system.slice/troupe.service/memory.limit_in_bytes":    "1048576\n",
		}, 512 << 20},
		{"older, around", "4:memory:/a/b\n", older, map[string]string{
			"sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": "9223372036854771712\n",
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes":   "134217728\n",
		}, 128 << 20},
		{"older, around and out of sight", "4:memory:/docker/abc\n",
			"35 23 0:31 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n", map[string]string{
				"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
				"sys/fs/cgroup/memory/memory.stat":           "cache 1\nhierarchical_memory_limit 209715200\ntotal_cache 5\n",
			}, 200 << 20},
		{"both at once", "4:memory:/a\n0::/b\n",
			older + "29 23 0:26 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n", map[string]string{
				"sys/fs/cgroup/memory/a/memory.limit_in_bytes": "536870912\n",
				"sys/fs/cgroup/unified/b/memory.max":           "max\n",
			}, 512 << 20},
		{"in an odd place", "0::/a\n", `29 23 0:26 / /odd\040place rw - cgroup2 cgroup2 rw` + "\n", map[string]string{
			"odd place/a/memory.max": "536870912\n",
		}, 512 << 20},
		{"nonsense", "0:\n:::\n", "x\n29 - cgroup2\n" + unified, map[string]string{"sys/fs/cgroup/memory.max": "-7\n"}, 0},
	} {
		root := t.TempDir()
		put := func(path, text string) {
			path = filepath.Join(root, path)
			must.Succeed(t, os.MkdirAll(filepath.Dir(path), 0o700))
			must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
		}
		put("proc/self/cgroup", test.group)
		put("proc/self/mountinfo", test.mounts)
		for path, text := range test.files {
			put(path, text)
		}
		got, ok := findCgroupLimit(root)
		if ok != (test.want > 0) || ok && (got.bytes != test.want || got.file == "") || !ok && got.bytes != math.MaxInt64 {
			t.Errorf("%s: %+v, %t, want %d", test.name, got, ok, test.want)
		}
	}
}
