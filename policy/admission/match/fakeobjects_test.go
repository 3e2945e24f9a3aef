package match_test

import (
	"context"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy"
)

func (f fakeObjects) Inform(_ context.Context, _ meta.GroupResource, onChange func(policy.Change)) error {
	for name, label := range f.labels {
		onChange(policy.Change{Object: &policy.Object{
			Key: meta.Key{Name: name}, Meta: meta.ObjectMeta{Labels: meta.NewLabels(map[string]string{"l": label})},
		}})
	}
	return nil
}
