package managedfields

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/schema"
)

type granularity uint8

const (
	atomic granularity = iota
	byField
	byKey
	byItem // a set, or a list with keys
)

// granularityOf returns the granularity of f's value or, if element is true, of the elements of f's
// list or map. In Pods, for example, spec.containers is byItem and each container byField. Labels
// are byKey. Each label and spec.nodeSelector are atomic.
func granularityOf(f *schema.Field, element bool) granularity {
	if !element {
		switch {
		case f.Shape == schema.Map && !f.MapAtomic:
			return byKey
		case f.Shape == schema.List && f.ListType != schema.ListAtomic:
			return byItem
		case f.Shape != schema.Single:
			return atomic
		}
	}
	if f.Type == schema.TypeMessage && !f.MapAtomic {
		return byField
	}
	return atomic
}

type excludedFields struct {
	// status is true if the write does not affect the status.
	status bool
	// onlyField, if set, is the only field other than metadata that the write affects.
	onlyField string
	// metadata lists the metadata fields that the write does not affect.
	metadata []string
}

// unownedMetadata lists the metadata fields without an owner, because the server sets them.
var unownedMetadata = map[string]bool{
	"name": true, "namespace": true, "uid": true, "resourceVersion": true, "generation": true,
	"creationTimestamp": true, "selfLink": true, "managedFields": true,
}

func (s excludedFields) excludesField(name string) bool {
	switch name {
	case "kind", "apiVersion":
		return true
	case "metadata":
		return slices.Contains(s.metadata, schema.EveryField)
	case "status":
		if s.status {
			return true
		}
	}
	return s.onlyField != "" && name != s.onlyField
}

func (s excludedFields) excludesMetadata(name string) bool {
	return unownedMetadata[name] || slices.Contains(s.metadata, name)
}
