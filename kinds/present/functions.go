package present

import (
	"slices"
	"strconv"
	"strings"
)

// What stands for values that are not there.
const (
	none    = "<none>"
	unknown = "<unknown>"
)

// A function fills one cell: it writes one JSON value.
type function func(b []byte, r *row, arg string) []byte

// functions are what a column's path may name after "func:".
var functions = map[string]function{
	// of any kind; those with an argument take a dotted path
	"age":       showAge,       // time since metadata.creationTimestamp
	"createdAt": showCreated,   // metadata.creationTimestamp itself
	"since":     showSince,     // time since the time at the path
	"count":     showCount,     // number of items or fields at the path
	"join":      showJoin,      // the texts of a list, or the names of its objects, with commas
	"pairs":     showPairs,     // a map of texts as a=b,c=d
	"dataCount": showDataCount, // number of keys in data and binaryData

	// of workloads
	"ready":      showReady,      // status.readyReplicas/spec.replicas
	"containers": showContainers, // names of the containers of spec.template
	"images":     showImages,     // and their images
	"selector":   showSelector,   // spec.selector as a label selector

	// of Pods
	"podReady":          showPodReady,    // ready/all containers
	"podStatus":         showPodStatus,   // phase, or what keeps it from running
	"podRestarts":       showPodRestarts, // restarts, and when the last one was
	"podReadinessGates": showPodGates,    // true/all readiness gates
	"podIP":             showPodIP,

	// of Events, of either group
	"eventLastSeen":  showEventLastSeen,
	"eventFirstSeen": showEventFirstSeen,
	"eventCount":     showEventCount,
	"eventObject":    showEventObject,
	"eventSource":    showEventSource,
	"eventMessage":   showEventMessage,

	// of Nodes and Services
	"nodeStatus":         showNodeStatus,
	"nodeRoles":          showNodeRoles,
	"nodeInternalIP":     showNodeInternalIP,
	"nodeExternalIP":     showNodeExternalIP,
	"servicePorts":       showServicePorts,
	"serviceExternalIPs": showServiceExternalIPs,
}

func nothing(b []byte, _ *row, _ string) []byte { return append(b, "null"...) }

func showAge(b []byte, r *row, _ string) []byte {
	return appendAge(b, value(Metadata(r.object)).field("creationTimestamp").text(), r.now)
}

func showCreated(b []byte, r *row, _ string) []byte {
	v := value(Metadata(r.object)).field("creationTimestamp")
	if !v.present() {
		return append(b, "null"...)
	}
	return append(b, v...)
}

func showSince(b []byte, r *row, path string) []byte {
	return appendAge(b, r.json.at(path).text(), r.now)
}

func showCount(b []byte, r *row, path string) []byte {
	return strconv.AppendInt(b, int64(r.json.at(path).count()), 10)
}

func showDataCount(b []byte, r *row, _ string) []byte {
	return strconv.AppendInt(b, int64(r.json.field("data").count()+r.json.field("binaryData").count()), 10)
}

func showJoin(b []byte, r *row, path string) []byte {
	return appendOr(b, strings.Join(r.json.at(path).names(), ","), none)
}

// names are the texts of a list, or the names of its objects.
func (v value) names() (out []string) {
	v.items(func(w value) bool {
		if w[0] == '{' {
			w = w.field("name")
		}
		out = append(out, w.text())
		return true
	})
	return out
}

func showPairs(b []byte, r *row, path string) []byte {
	return appendOr(b, strings.Join(r.json.at(path).pairs(), ","), none)
}

// pairs are the fields of a map of texts, each as key=value, sorted.
func (v value) pairs() (out []string) {
	v.fields(func(key, w value) bool {
		out = append(out, key.text()+"="+w.text())
		return true
	})
	slices.Sort(out)
	return out
}

// appendOr writes s, or what stands for it when it is empty.
func appendOr(b []byte, s, empty string) []byte {
	if s == "" {
		s = empty
	}
	return appendText(b, s)
}
