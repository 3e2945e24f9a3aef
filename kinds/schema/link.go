package schema

// link finds what kinds say of each other by name: the kind that a sub-resource speaks,
// and the kind in whose form a storage keeps its objects.
func (c *compiler) link() {
	byKind := map[string]*Kind{}
	for _, k := range c.plan.Kinds {
		byKind[k.APIVersion()+" "+k.Kind] = k
	}
	for _, k := range c.plan.Kinds {
		c.linkSubresources(k, byKind)
		if k.Resource != "" {
			k.Stored = c.storageVersion(k)
			k.Stored.Versions = append(k.Stored.Versions, k)
		}
	}
}

func (c *compiler) linkSubresources(k *Kind, byKind map[string]*Kind) {
	for i := range k.Subresources {
		s := &k.Subresources[i]
		if s.Kind.Kind == "" || s.Kind == k.GroupVersionKind {
			continue
		}
		if s.BodyKind = byKind[s.Kind.APIVersion()+" "+s.Kind.Kind]; s.BodyKind == nil {
			c.fault(k.Message.Name, s.Name, "speaks a kind that is not declared")
		}
	}
}

// storageVersion is the one kind among those that share k's storage which is marked as
// stored, or which is alone.
func (c *compiler) storageVersion(k *Kind) *Kind {
	var marked, first *Kind
	sharing := 0
	for _, other := range c.plan.Kinds {
		if other.Resource == "" || other.Storage != k.Storage {
			continue
		}
		if first == nil {
			first = other
		}
		sharing++
		if !c.stored[other] {
			continue
		}
		if marked != nil {
			c.fault(k.Message.Name, k.Resource, "has a storage with more than one stored form")
		}
		marked = other
	}
	if marked == nil && sharing > 1 {
		c.fault(k.Message.Name, k.Resource, "shares its storage and nobody there is marked as stored")
	}
	if marked == nil {
		return first
	}
	return marked
}
