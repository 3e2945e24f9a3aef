package catalog

import (
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// attachFunctions gives kinds and sub-resources their functions. A function for nothing that is
// declared is a mistake, and so is a kind or a sub-resource that lacks one it needs.
func (c *Catalog) attachFunctions() error {
	for key, r := range rulesByKind(c.naming) {
		k, rest, err := c.builtInKind(key)
		if err != nil || rest != "" {
			return fmt.Errorf("catalog: rules of %s: no such kind", key)
		}
		k.Rules = r
		if key == definitionKey {
			k.Rules.ValidateServed = c.validateDefinitionGroupNotBuiltIn
		}
	}
	for key, conversion := range conversionsByKind(c.naming, c.Message) {
		k, rest, err := c.builtInKind(key)
		if err != nil || rest != "" {
			return fmt.Errorf("catalog: conversion of %s: no such kind", key)
		}
		k.Conversion = conversion
	}
	for key, view := range viewsBySubresource(c.naming) {
		k, rest, err := c.builtInKind(key)
		if err != nil {
			return err
		}
		s := k.Subresource(rest)
		if s == nil {
			return fmt.Errorf("catalog: view of %s: no such sub-resource", key)
		}
		s.View = view
	}
	return c.completeSubresources()
}

// builtInKind finds the kind of "group/version/Kind", the group in platform form, and what
// follows behind another slash.
func (c *Catalog) builtInKind(key string) (k *schema.Kind, rest string, err error) {
	parts := strings.SplitN(key, "/", 4)
	if len(parts) < 3 {
		return nil, "", fmt.Errorf("catalog: %q is not group/version/Kind", key)
	}
	gvk := meta.GroupVersionKind{Group: c.naming.Translate(parts[0]), Version: parts[1], Kind: parts[2]}
	if k = c.builtIn.byKind[gvk]; k == nil {
		return nil, "", fmt.Errorf("catalog: %s is not declared", key)
	}
	if len(parts) == 4 {
		rest = parts[3]
	}
	return k, rest, nil
}

// completeSubresources gives status and scale, which are the same for all kinds, their views, and
// looks for conversions that are missing.
func (c *Catalog) completeSubresources() error {
	for _, k := range c.builtIn.all {
		if k.Stored != k && k.Conversion.ToStored == nil {
			return fmt.Errorf("catalog: %s %s is stored in another form and has no conversion", k.APIVersion(), k.Kind)
		}
		attachDefaultViews(k)
	}
	return nil
}

func attachDefaultViews(k *schema.Kind) {
	for i := range k.Subresources {
		s := &k.Subresources[i]
		switch {
		case s.View.Write != nil:
		case s.Name == "status":
			s.View.Write = writeStatus
		case s.Scale != nil:
			s.View = scaleView(s.Scale)
		}
	}
}
