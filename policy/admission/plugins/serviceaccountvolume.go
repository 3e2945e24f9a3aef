package plugins

import (
	"math/rand/v2"
	"strings"

	"github.com/troupe-api/troupe/kinds/tree"
)

// tokenSeconds is the lifetime of a Pod's token in seconds. The odd number identifies tokens of
// this volume, whose lifetime the server extends for clients that do not reload tokens.
const tokenSeconds = 3607

// mountToken mounts a volume with token, CA and namespace into each container that has no volume at
// mountPath. It reuses an existing token volume, and adds one only if a container needs it.
func (p *serviceAccountPlugin) mountToken(spec tree.Tree) {
	volume, has := p.tokenVolume(spec), true
	if volume == "" {
		volume, has = p.volumePrefix+randomSuffix(), false
	}
	mounted := false
	for _, c := range containers(spec, podContainers...) {
		if !p.hasMount(c) {
			appendItem(c, "volumeMounts", tree.Tree{"name": volume, "readOnly": true, "mountPath": p.mountPath})
			mounted = true
		}
	}
	if mounted && !has {
		appendItem(spec, "volumes", p.newTokenVolume(volume))
	}
}

func (p *serviceAccountPlugin) tokenVolume(spec tree.Tree) string {
	for _, item := range spec.List("volumes") {
		v, _ := item.(tree.Tree)
		if name := v.String("name"); strings.HasPrefix(name, p.volumePrefix) {
			return name
		}
	}
	return ""
}

func (p *serviceAccountPlugin) hasMount(c tree.Tree) bool {
	for _, item := range c.List("volumeMounts") {
		if mount, _ := item.(tree.Tree); mount.String("mountPath") == p.mountPath {
			return true
		}
	}
	return false
}

// newTokenVolume returns the token volume. It sets all fields, because defaulting has already run.
func (p *serviceAccountPlugin) newTokenVolume(name string) tree.Tree {
	sources := []any{tree.Tree{"serviceAccountToken": tree.Tree{"expirationSeconds": int64(tokenSeconds), "path": "token"}}}
	if p.rootCA != "" {
		sources = append(sources, tree.Tree{"configMap": tree.Tree{"name": p.rootCA, "items": []any{tree.Tree{"key": "ca.crt", "path": "ca.crt"}}}})
	}
	sources = append(sources, tree.Tree{"downwardAPI": tree.Tree{"items": []any{tree.Tree{
		"path": "namespace", "fieldRef": tree.Tree{"apiVersion": "v1", "fieldPath": "metadata.namespace"},
	}}}})
	return tree.Tree{"name": name, "projected": tree.Tree{"defaultMode": int64(0o644), "sources": sources}}
}

// randomSuffix returns a suffix that makes the volume name unique in the Pod. It need not be
// unpredictable.
func randomSuffix() string {
	const letters, length = "bcdfghjklmnpqrstvwxz2456789", 5
	var suffix [length]byte
	for i := range suffix {
		suffix[i] = letters[rand.IntN(len(letters))]
	}
	return string(suffix[:])
}
