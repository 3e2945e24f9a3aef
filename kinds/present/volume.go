package present

import (
	"slices"
	"strings"
)

// accessModes are the modes of volumes in the order in which tables show them.
var accessModes = []struct{ mode, short string }{
	{"ReadWriteOnce", "RWO"}, {"ReadOnlyMany", "ROX"}, {"ReadWriteMany", "RWX"}, {"ReadWriteOncePod", "RWOP"},
}

func showAccessModes(b []byte, r *row, path string) []byte {
	given := r.json.at(path).texts("name")
	var shown []string
	for _, m := range accessModes {
		if slices.Contains(given, m.mode) {
			shown = append(shown, m.short)
		}
	}
	return appendText(b, strings.Join(shown, ","))
}

// isBound reports whether a claim has a volume.
func isBound(r *row) bool { return r.json.at("spec.volumeName").text() != "" }

func showClaimModes(b []byte, r *row, _ string) []byte {
	if !isBound(r) {
		return appendText(b, "")
	}
	return showAccessModes(b, r, "status.accessModes")
}

func showClaimCapacity(b []byte, r *row, _ string) []byte {
	if !isBound(r) {
		return appendText(b, "")
	}
	return appendOr(b, r.json.at("status.capacity.storage").plain(), "0")
}

// showStorageClass prefers the annotation that came before the field.
func showStorageClass(b []byte, r *row, _ string) []byte {
	if class := r.annotation("volume.beta.platform.io/storage-class"); class != "" {
		return appendText(b, class)
	}
	return appendText(b, r.json.at("spec.storageClassName").text())
}

// showDefaultName marks the name if one of the annotations, named with spaces between, is true.
func showDefaultName(b []byte, r *row, annotations string) []byte {
	name := r.object.Key.Name
	for annotation := range strings.FieldsSeq(annotations) {
		if r.annotation(annotation) == "true" {
			return appendText(b, name+" (default)")
		}
	}
	return appendText(b, name)
}

func showDeviceState(b []byte, r *row, _ string) []byte {
	var states []string
	if r.object.Meta.Terminating {
		states = append(states, "deleted")
	}
	switch status := r.json.field("status"); {
	case !status.field("allocation").exists():
		if len(states) == 0 {
			states = append(states, "pending")
		}
	case status.field("reservedFor").count() > 0:
		states = append(states, "allocated", "reserved")
	default:
		states = append(states, "allocated")
	}
	return appendText(b, strings.Join(states, ","))
}
