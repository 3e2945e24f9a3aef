package table

import (
	"cmp"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/jsonpath"
	"github.com/troupe-api/troupe/kinds/jsontext"
)

var accessModes = []struct{ mode, short string }{
	{"ReadWriteOnce", "RWO"}, {"ReadOnlyMany", "ROX"}, {"ReadWriteMany", "RWX"}, {"ReadWriteOncePod", "RWOP"},
}

func showAccessModes(r *row, path string) string {
	given := texts(r.json.At(path), "name")
	var shown []string
	for _, m := range accessModes {
		if slices.Contains(given, m.mode) {
			shown = append(shown, m.short)
		}
	}
	return strings.Join(shown, ",")
}

// isBound reports whether a PersistentVolumeClaim has a volume. Otherwise, its access modes and
// capacity are meaningless.
func isBound(r *row) bool { return r.json.At("spec.volumeName").Text() != "" }

func showClaimModes(r *row, _ string) string {
	if !isBound(r) {
		return ""
	}
	return showAccessModes(r, "status.accessModes")
}

func showClaimCapacity(r *row, _ string) string {
	if !isBound(r) {
		return ""
	}
	return cmp.Or(jsonpath.Text(r.json.At("status.capacity.storage")), "0")
}

// showStorageClass shows the storage class. The deprecated annotation takes precedence, because it
// still overrides the field.
func showStorageClass(r *row, _ string) string {
	if class := r.annotation("volume.beta.platform.io/storage-class"); class != "" {
		return class
	}
	return r.json.At("spec.storageClassName").Text()
}

func showDefaultName(r *row, annotation string) string {
	name := r.object.Key.Name
	if r.annotation(annotation) == "true" {
		name += " (default)"
	}
	return name
}

// showNewestDefault marks the newest default class of a list. It accepts several annotations,
// because older objects use a former name.
func showNewestDefault(r *row, annotations string) string {
	isDefault := func(metadata jsontext.Value) bool {
		return slices.ContainsFunc(strings.Fields(annotations), func(name string) bool {
			return metadata.Field("annotations").Field(r.naming.Translate(name)).Text() == "true"
		})
	}
	name := r.object.Key.Name
	if !isDefault(r.metadata) {
		return name
	}
	if r.newestDefault == "" {
		created := ""
		for _, o := range r.list { // sorted by name
			m := Metadata(o)
			if at := m.Field("creationTimestamp").Text(); at > created && isDefault(m) {
				r.newestDefault, created = o.Key.Name, at
			}
		}
	}
	if name == r.newestDefault {
		name += " (default)"
	}
	return name
}

func showDeviceState(r *row, _ string) string {
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
	return strings.Join(states, ",")
}
