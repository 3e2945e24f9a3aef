package daemon

import (
	"bufio"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

type cgroupLimit struct {
	bytes int64
	file  string // the file with the limit
}

// findCgroupLimit returns the lowest memory limit of the process's cgroups and their ancestors, for
// cgroup v1 and v2. The Go runtime ignores these limits, so the heap would grow until the kernel
// kills the process. Only tests use a root other than "/".
func findCgroupLimit(root string) (least cgroupLimit, ok bool) {
	least.bytes = math.MaxInt64
	places := cgroupPaths(filepath.Join(root, "proc/self/cgroup"))
	for _, m := range cgroupMounts(filepath.Join(root, "proc/self/mountinfo")) {
		place, in := places[m.unified]
		if !in {
			continue
		}
		for _, dir := range m.directories(place) {
			for _, file := range cgroupLimitFiles[m.unified] {
				path := filepath.Join(root, dir, file)
				if bytes, set := readLimit(path); set && bytes < least.bytes {
					least, ok = cgroupLimit{bytes, path}, true
				}
			}
		}
	}
	return least, ok
}

// cgroupLimitFiles lists the files that contain a cgroup's memory limit, keyed by whether the
// hierarchy is v2. In v1, memory.stat also includes the limits of ancestors that the process cannot
// see.
var cgroupLimitFiles = map[bool][]string{
	true:  {"memory.max"},
	false: {"memory.limit_in_bytes", "memory.stat"},
}

// cgroupPaths returns the paths of the process's cgroups, keyed by whether the hierarchy is v2. A
// system may mount both versions.
func cgroupPaths(path string) map[bool]string {
	places := map[bool]string{}
	eachLine(path, func(line string) {
		parts := strings.SplitN(line, ":", 3) // number, controllers, path
		switch {
		case len(parts) < 3:
		// The v2 line has the number 0 and no controllers.
		case parts[0] == "0" && parts[1] == "":
			places[true] = parts[2]
		case hasOption(parts[1], "memory"):
			places[false] = parts[2]
		}
	})
	return places
}

// A cgroupMount is a mounted hierarchy. A container often sees only part of it.
type cgroupMount struct {
	unified    bool
	root       string // the group at the mount point
	mountPoint string
}

// cgroupMounts returns the mounts of hierarchies that may limit memory, in the format of proc(5):
// optional fields, " - ", then the file system type and its options.
func cgroupMounts(path string) (mounts []cgroupMount) {
	eachLine(path, func(line string) {
		before, after, _ := strings.Cut(line, " - ")
		place, kind := strings.Fields(before), strings.Fields(after)
		if len(place) < 5 || len(kind) < 1 {
			return
		}
		m := cgroupMount{root: unescape(place[3]), mountPoint: unescape(place[4])}
		switch {
		case kind[0] == "cgroup2":
			m.unified = true
		case kind[0] != "cgroup" || len(kind) < 3 || !hasOption(kind[2], "memory"):
			return
		}
		mounts = append(mounts, m)
	})
	return mounts
}

// directories returns the visible directories of the cgroup at place and its ancestors, innermost
// first. If place is outside the mount, as in a container that sees only its own cgroup, it returns
// the mount point.
func (m cgroupMount) directories(place string) (all []string) {
	inner, below := strings.CutPrefix(filepath.Clean(place), filepath.Clean(m.root))
	if m.root == "/" {
		inner, below = place, true
	}
	if !below || inner != "" && inner[0] != '/' || strings.Contains(inner, "/..") {
		inner = ""
	}
	for inner = filepath.Clean("/" + inner); inner != "/"; inner = filepath.Dir(inner) {
		all = append(all, filepath.Join(m.mountPoint, inner))
	}
	return append(all, m.mountPoint)
}

// readLimit reads a limit. set is false if there is none: "max" in cgroup v2, or a value close to
// the largest int64 in v1.
func readLimit(path string) (bytes int64, set bool) {
	eachLine(path, func(line string) {
		text, named := strings.CutPrefix(line, "hierarchical_memory_limit ")
		if filepath.Base(path) == "memory.stat" && !named {
			return
		}
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 && n < math.MaxInt64/2 {
			bytes, set = n, true
		}
	})
	return bytes, set
}

// eachLine ignores errors, because the daemon must run without /proc.
func eachLine(path string, fn func(string)) {
	file, err := os.Open(path)
	if err != nil {
		return
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fn(lines.Text())
	}
}

func hasOption(list, option string) bool {
	return strings.Contains(","+list+",", ","+option+",")
}

// unescape decodes octal escapes in kernel paths.
func unescape(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] == '\\' && i+3 < len(path) {
			if n, err := strconv.ParseUint(path[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(path[i])
	}
	return b.String()
}
