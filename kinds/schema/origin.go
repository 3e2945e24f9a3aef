package schema

import "github.com/troupe-api/troupe/kinds/tree"

// An Origin contains the properties of a custom kind that its CustomResourceDefinition defines.
//
// Each version has its own schema and columns. Writes through subresources must satisfy the whole
// schema. Stored objects remain in the version in which they were written, and reads convert them
// to the current schema (Message.Custom). Objects have no Protobuf form, and an empty value differs
// from an absent one. If there is a status subresource, no other write changes the status.
type Origin struct {
	Definition string // the name of the CustomResourceDefinition
	Draining   bool   // being deleted together with the kind's objects
	Schema     Schema
	// ConversionWebhook is shared by all versions, or nil.
	ConversionWebhook *ConversionWebhook
	// WorkingForm is the kind with its own version as the storage version, if there is a conversion
	// webhook. Writes are computed in this form and then converted by the webhook to the actual
	// storage version. WorkingForm.Versions lists the working forms of all versions, whose Stored
	// fields refer to themselves.
	WorkingForm *Kind
	// Unconverted is the result of Kind.Unconverted if there is a conversion webhook.
	Unconverted *Kind
}

// A ConversionWebhook converts objects of a custom kind between versions. Each CRD change creates a
// new one.
type ConversionWebhook struct {
	ReviewVersions []string  // versions of ConversionReview, the preferred one first
	ClientConfig   tree.Tree // webhook configuration
}

// IsCustom reports whether a CustomResourceDefinition defines the kind.
func (k *Kind) IsCustom() bool { return k.Origin != nil }

// ConversionWebhook returns the kind's conversion webhook, or nil.
func (k *Kind) ConversionWebhook() *ConversionWebhook {
	if k.Origin == nil {
		return nil
	}
	return k.Origin.ConversionWebhook
}

// Unconverted returns the kind for requests that need only metadata. Such requests call no webhook,
// because metadata is the same in all versions. It returns k itself if there is no conversion
// webhook.
func (k *Kind) Unconverted() *Kind {
	if k.ConversionWebhook() == nil {
		return k
	}
	return k.Origin.Unconverted
}

// CallsWebhook reports whether requests for objects of k may call a conversion webhook.
func (k *Kind) CallsWebhook() bool { return k.Unconverted() != k }

// FindVersion returns the kind with the given apiVersion in the same collection, or nil.
func (k *Kind) FindVersion(apiVersion string) *Kind {
	for _, v := range k.Stored.Versions {
		if v.APIVersion() == apiVersion {
			return v
		}
	}
	return nil
}
