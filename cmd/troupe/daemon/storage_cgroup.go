package daemon

import (
	"bufio"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A cgroupLimit is the memory that the control groups of a process may have.
type cgroupLimit struct {
	bytes int64
	file  string // that says so
}

// findCgroupLimit finds the least limit of memory of the control groups that this process is in, in both
// versions of the kernel's interface; ok is false if none has one. root is where the file system begins:
// "/" but for tests. The Go runtime does not look at control groups, and would let the heap grow until the
// kernel kills the process. Groups around count as well, because the least limit of all is the one that is
// met.
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
				// A file that is missing has no limit, as in groups of which only some are seen.
				if bytes, set := readLimit(path); set && bytes < least.bytes {
					least, ok = cgroupLimit{bytes, path}, true
				}
			}
		}
	}
	return least, ok
}

// cgroupLimitFiles hold the limit of one group, in the newer interface (true) and the older. The
// statistics of the older one know the limits of the groups around, also where these cannot be seen.
var cgroupLimitFiles = map[bool][]string{
	true:  {"memory.max"},
	false: {"memory.limit_in_bytes", "memory.stat"},
}

// cgroupPaths reads where the process is in the hierarchy of each interface. Both interfaces may be mounted
// at once, with memory in one of them.
func cgroupPaths(path string) map[bool]string {
	places := map[bool]string{}
	eachLine(path, func(line string) {
		parts := strings.SplitN(line, ":", 3) // number, controllers, place
		switch {
		case len(parts) < 3:
		// The line of the newer interface has the number 0 and names no controllers.
		case parts[0] == "0" && parts[1] == "":
			places[true] = parts[2]
		case hasOption(parts[1], "memory"):
			places[false] = parts[2]
		}
	})
	return places
}

// A cgroupMount is where a hierarchy, or a part of it, can be seen. In a container the mount often shows
// only a part of the hierarchy.
type cgroupMount struct {
	unified    bool
	root       string // the group that is seen at the mount point
	mountPoint string // the mount point
}

// cgroupMounts reads the mounts of hierarchies that may limit memory. The format is that of proc(5):
// optional fields, then " - ", then the type of the file system and its options.
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

// directories are those of the groups that a process at a place is in, as far as they can be seen:
// its own first. A place that lies outside of what is mounted, as in a container that has been
// given its own group only, is the mount point.
func (m cgroupMount) directories(place string) (all []string) {
	inner, below := strings.CutPrefix(filepath.Clean(place), filepath.Clean(m.root))
	// The mount shows the hierarchy from its top, so the place is as it stands.
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

// readLimit reads a limit; set is false where there is none, or one that is as good as none. The older
// interface writes nearly the largest number for "none", the newer one "max".
func readLimit(path string) (bytes int64, set bool) {
	eachLine(path, func(line string) {
		text, named := strings.CutPrefix(line, "hierarchical_memory_limit ")
		if filepath.Base(path) == "memory.stat" && !named {
			return
		}
		// In bytes, in both interfaces.
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 && n < math.MaxInt64/2 {
			bytes, set = n, true
		}
	})
	return bytes, set
}

// eachLine calls fn for the lines of a file; for none if it cannot be read. A file that cannot be read
// means no limit: the daemon must run where there is no /proc.
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

// hasOption tells whether a list with commas has an option as a whole: "memory" is not in "memory_recursiveprot".
func hasOption(list, option string) bool {
	return strings.Contains(","+list+",", ","+option+",")
}

// unescape replaces the octal escapes of spaces and the like in paths of the kernel.
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
