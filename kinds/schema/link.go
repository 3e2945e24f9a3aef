package schema

// resolveReferences links each kind to the body kinds of its subresources and to its storage
// version.
func (c *compiler) resolveReferences() {
	byKind := map[string]*Kind{}
	for _, k := range c.plan.Kinds {
		byKind[k.APIVersion()+" "+k.Kind] = k
	}
	for _, k := range c.plan.Kinds {
		c.resolveSubresources(k, byKind)
		if k.Resource != "" {
			k.Stored = c.storageVersion(k)
			k.Stored.Versions = append(k.Stored.Versions, k)
		}
	}
}

func (c *compiler) resolveSubresources(k *Kind, byKind map[string]*Kind) {
	for i := range k.Subresources {
		s := &k.Subresources[i]
		if s.Kind.Kind == "" || s.Kind == k.GroupVersionKind {
			continue
		}
		if s.BodyKind = byKind[s.Kind.APIVersion()+" "+s.Kind.Kind]; s.BodyKind == nil {
			c.fault(k.Message().Name, s.Name, "has a body of a kind that is not declared")
		}
	}
}

// storageVersion returns the kind marked as the storage version of k's collection. If only one kind
// uses the collection, that kind needs no mark.
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
			c.fault(k.Message().Name, k.Resource, "has a storage with more than one storage version")
		}
		marked = other
	}
	if marked == nil && sharing > 1 {
		c.fault(k.Message().Name, k.Resource, "shares its storage, and no kind there is marked as the storage version")
	}
	if marked == nil {
		return first
	}
	return marked
}
