package pod

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A portEntry is a container port with its position. It caches its fields, because each entry is
// compared with all earlier entries.
type portEntry struct {
	container, host         int64
	protocol, hostIP, name  string
	list                    string
	containerIndex, atIndex int
}

func (p *portEntry) path(spec string) string {
	return tree.IndexPath(tree.IndexPath(spec+"."+p.list, p.containerIndex)+".ports", p.atIndex)
}

// enoughPorts limits how many ports are compared with each other: 1000 ports take half a million
// comparisons.
const enoughPorts = 1000

func warnOfPortOverlaps(spec tree.Tree, path string, faults *schema.Faults) {
	var few [8]portEntry
	ports := appendPorts(few[:0], spec)
	limit := len(faults.Warnings) + enoughTexts
	for i := range ports {
		p := &ports[i]
		if p.hostIP != "" && p.host == 0 {
			faults.Warn(p.path(path), fmt.Sprintf("hostIP set without hostPort: {Name:%s HostPort:%d ContainerPort:%d Protocol:%s HostIP:%s}",
				p.name, p.host, p.container, p.protocol, p.hostIP))
		}
		for j := range ports[:i] {
			if len(faults.Warnings) >= limit {
				return
			}
			if text := p.conflict(&ports[j]); text != "" {
				faults.Warn(p.path(path), text+" port definition with "+ports[j].path(path))
			}
		}
	}
	warnOfPortNames(ports, path, faults)
}

func appendPorts(entries []portEntry, spec tree.Tree) []portEntry {
	for _, list := range containerLists {
		for i, v := range spec.List(list) {
			container, _ := v.(tree.Tree)
			for j, v := range container.List("ports") {
				if len(entries) == enoughPorts {
					return entries
				}
				p, _ := v.(tree.Tree)
				e := portEntry{protocol: p.String("protocol"), hostIP: p.String("hostIP"), name: p.String("name"), list: list, containerIndex: i, atIndex: j}
				e.container, _ = p.Int("containerPort")
				e.host, _ = p.Int("hostPort")
				entries = append(entries, e)
			}
		}
	}
	return entries
}

// conflict describes the conflict between a port and an earlier one, or returns "" if there is
// none. A conflict only causes a warning, because container ports are informational.
func (p *portEntry) conflict(earlier *portEntry) string {
	switch {
	case p.container != earlier.container || p.protocol != earlier.protocol:
		return ""
	case p.host == earlier.host && p.hostIP == earlier.hostIP:
		return "duplicate"
	case p.host == 0 || earlier.host == 0:
		return "overlapping"
	case p.host == earlier.host && (p.hostIP == "") != (earlier.hostIP == ""):
		return "dangerously ambiguous"
	}
	return ""
}

// warnOfPortNames warns about port names that several containers use. Duplicates within one
// container are errors.
func warnOfPortNames(ports []portEntry, path string, faults *schema.Faults) {
	for i := range ports {
		name := ports[i].name
		if name == "" {
			continue
		}
		for j := range ports[:i] {
			if ports[j].name == name {
				first := ports[j].path(path)
				faults.Warn(ports[i].path(path), fmt.Sprintf("duplicate port name %q with %s, services and probes that select ports by name will use %s", name, first, first))
				break
			}
		}
	}
}
