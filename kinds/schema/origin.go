package schema

import "github.com/troupe-api/troupe/kinds/tree"

// An Origin is what the CustomResourceDefinition of a custom kind adds to it.
//
// Custom kinds differ from built-in ones (Kind.IsCustom): they come, change and go while the server
// runs. Each version has its own schema and columns, and writes through sub-resources have to meet
// the whole schema. Stored bytes keep the version in which they were written and get the form of
// the current schema when they are read (Message.Custom). Objects have no Protobuf form, an empty
// value differs from an absent one, and the status is a field like any other unless it is a
// sub-resource, which then alone writes it.
type Origin struct {
	Definition string // the name of the CustomResourceDefinition
	Draining   bool   // it is being deleted, and the objects of the kind with it
	Schema     Schema
	// ConversionWebhook converts between the versions of the kind, which share it; nil where
	// Kind.Conversion does.
	ConversionWebhook *ConversionWebhook
	// WorkingForm, where a webhook converts, is the kind as if its objects were stored in its
	// version: writes are computed in it, and their outcome is converted to Stored in the end. Its
	// Versions are the working forms of all versions, of which each is its own Stored.
	WorkingForm *Kind
	// Unconverted is set where a webhook converts (Kind.Unconverted).
	Unconverted *Kind
}

// A ConversionWebhook converts the objects of a custom kind between versions. A changed
// CustomResourceDefinition has another one.
//
// Objects stay stored in the version in which they were written, and only the webhook knows their
// form in another one.
type ConversionWebhook struct {
	ReviewVersions []string  // of the ConversionReview, the preferred one first
	ClientConfig   tree.Tree // where the webhook is
}

// IsCustom reports whether a CustomResourceDefinition defines the kind.
func (k *Kind) IsCustom() bool { return k.Origin != nil }

// ConversionWebhook returns the webhook that converts objects of the kind; nil if the server does.
func (k *Kind) ConversionWebhook() *ConversionWebhook {
	if k.Origin == nil {
		return nil
	}
	return k.Origin.ConversionWebhook
}

// Unconverted returns the kind for requests that concern nothing but metadata, which is the same in all versions. They call
// no webhook: an object is read and changed in the version in which it was written. It is k itself unless a webhook converts.
func (k *Kind) Unconverted() *Kind {
	if k.ConversionWebhook() == nil {
		return k
	}
	return k.Origin.Unconverted
}

// CallsWebhook reports whether requests for objects of k call a conversion webhook.
func (k *Kind) CallsWebhook() bool { return k.Unconverted() != k }

// FindVersion finds the kind among those that share the storage whose objects have an apiVersion; nil if there is none.
func (k *Kind) FindVersion(apiVersion string) *Kind {
	for _, v := range k.Stored.Versions {
		if v.APIVersion() == apiVersion {
			return v
		}
	}
	return nil
}
