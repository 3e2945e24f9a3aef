package table

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/jsonpath"
	"github.com/troupe-api/troupe/kinds/jsontext"
)

var accessModes = []struct{ mode, short string }{
	{"ReadWriteOnce", "RWO"}, {"ReadOnlyMany", "ROX"}, {"ReadWriteMany", "RWX"}, {"ReadWriteOncePod", "RWOP"},
}

func showAccessModes(b []byte, r *row, path string) []byte {
	given := texts(r.json.At(path), "name")
	var shown []string
	for _, m := range accessModes {
		if slices.Contains(given, m.mode) {
			shown = append(shown, m.short)
		}
	}
	return jsontext.AppendString(b, strings.Join(shown, ","))
}

// isBound reports whether a PersistentVolumeClaim has a volume. Until then, access modes and
// capacity are meaningless.
func isBound(r *row) bool { return r.json.At("spec.volumeName").Text() != "" }

func showClaimModes(b []byte, r *row, _ string) []byte {
	if !isBound(r) {
		return jsontext.AppendString(b, "")
	}
	return showAccessModes(b, r, "status.accessModes")
}

func showClaimCapacity(b []byte, r *row, _ string) []byte {
	if !isBound(r) {
		return jsontext.AppendString(b, "")
	}
	return appendOr(b, jsonpath.Text(r.json.At("status.capacity.storage")), "0")
}

// showStorageClass prefers the deprecated annotation, which still overrides the field.
func showStorageClass(b []byte, r *row, _ string) []byte {
	if class := r.annotation("volume.beta.platform.io/storage-class"); class != "" {
		return jsontext.AppendString(b, class)
	}
	return jsontext.AppendString(b, r.json.At("spec.storageClassName").Text())
}

// showDefaultName marks the name of a default class, as kubectl does.
func showDefaultName(b []byte, r *row, annotation string) []byte {
	name := r.object.Key.Name
	if r.annotation(annotation) == "true" {
		name += " (default)"
	}
	return jsontext.AppendString(b, name)
}

// showNewestDefault marks the newest default class of a list. It accepts several annotations,
// because the annotation was renamed and older objects have the old name.
func showNewestDefault(b []byte, r *row, annotations string) []byte {
	isDefault := func(metadata jsontext.Value) bool {
		return slices.ContainsFunc(strings.Fields(annotations), func(name string) bool {
			return metadata.Field("annotations").Field(r.naming.Translate(name)).Text() == "true"
		})
	}
	name, newest, created := r.object.Key.Name, "", ""
	if isDefault(r.metadata) {
		for _, o := range r.list { // sorted by name
			m := Metadata(o)
			if at := m.Field("creationTimestamp").Text(); at > created && isDefault(m) {
				newest, created = o.Key.Name, at
			}
		}
	}
	if name == newest {
		name += " (default)"
	}
	return jsontext.AppendString(b, name)
}

func showDeviceState(b []byte, r *row, _ string) []byte {
	var states []string
	if r.object.Meta.Terminating {
		states = append(states, "deleted")
	}
	switch status := r.json.Field("status"); {
	case !status.Field("allocation").Exists():
		if len(states) == 0 {
			states = append(states, "pending")
		}
	case status.Field("reservedFor").Count() > 0:
		states = append(states, "allocated", "reserved")
	default:
		states = append(states, "allocated")
	}
	return jsontext.AppendString(b, strings.Join(states, ","))
}
