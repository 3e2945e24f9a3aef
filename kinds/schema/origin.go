package schema

import "github.com/troupe-api/troupe/kinds/tree"

// An Origin is what a CustomResourceDefinition adds to its kind.
//
// Custom kinds are added, changed and removed at run time. Each version has its own schema and
// columns, and writes through subresources must satisfy the whole schema. Stored bytes keep the
// version in which they were written; reads convert them to the current schema (Message.Custom).
// Objects have no Protobuf form, and an empty value differs from an absent one. Only a status
// subresource, if there is one, writes the status.
type Origin struct {
	Definition string // the name of the CustomResourceDefinition
	Draining   bool   // being deleted together with the kind's objects
	Schema     Schema
	// ConversionWebhook converts between versions, which share it; nil if Kind.Conversion does.
	ConversionWebhook *ConversionWebhook
	// WorkingForm, set if a webhook converts, is the kind as if its objects were stored in its
	// version. Writes are computed in it and converted to Stored. Its Versions are the working
	// forms of all versions, each its own Stored.
	WorkingForm *Kind
	// Unconverted is set if a webhook converts (see Kind.Unconverted).
	Unconverted *Kind
}

// A ConversionWebhook converts objects of a custom kind between versions. A changed CRD gets a new
// one.
//
// Objects stay in the version in which they were written, because only the webhook knows other
// forms.
type ConversionWebhook struct {
	ReviewVersions []string  // of the ConversionReview, the preferred one first
	ClientConfig   tree.Tree // of the webhook
}

// IsCustom reports whether a CustomResourceDefinition defines the kind.
func (k *Kind) IsCustom() bool { return k.Origin != nil }

// ConversionWebhook returns the webhook that converts objects of the kind, or nil.
func (k *Kind) ConversionWebhook() *ConversionWebhook {
	if k.Origin == nil {
		return nil
	}
	return k.Origin.ConversionWebhook
}

// Unconverted returns the kind for requests that concern only metadata, which is the same in all
// versions, and so call no webhook. It is k itself unless a webhook converts.
func (k *Kind) Unconverted() *Kind {
	if k.ConversionWebhook() == nil {
		return k
	}
	return k.Origin.Unconverted
}

// CallsWebhook reports whether requests for objects of k call a conversion webhook.
func (k *Kind) CallsWebhook() bool { return k.Unconverted() != k }

// FindVersion returns the kind of the same storage with that apiVersion, or nil.
func (k *Kind) FindVersion(apiVersion string) *Kind {
	for _, v := range k.Stored.Versions {
		if v.APIVersion() == apiVersion {
			return v
		}
	}
	return nil
}
