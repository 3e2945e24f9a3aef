package schema

import "github.com/troupe-api/troupe/kinds/tree"

// A ConversionWebhook is who converts the objects of a custom kind between versions, as the definition has it. A changed
// definition has another one.
//
// Objects stay stored in the version in which they were written, and only the webhook can tell what another version
// shows of them.
type ConversionWebhook struct {
	Definition     string    // the name of the definition
	ReviewVersions []string  // of the ConversionReview, the most wanted first
	ClientConfig   tree.Tree // where the webhook is
}

// FindVersion finds the kind among those that share the storage whose objects have an apiVersion; nil if there is none.
func (k *Kind) FindVersion(apiVersion string) *Kind {
	for _, v := range k.Stored.Versions {
		if v.APIVersion() == apiVersion {
			return v
		}
	}
	return nil
}
