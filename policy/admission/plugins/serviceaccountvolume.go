package plugins

import (
	"math/rand/v2"
	"strings"

	"github.com/troupe-api/troupe/kinds/tree"
)

// tokenSeconds is how long the token of a Pod is good for, beyond the hour in which it is renewed. The odd
// number is how the server recognizes tokens of this volume, whose life it extends for clients that do not
// reload them.
const tokenSeconds = 3607

// mountToken mounts a volume with a token, the CA of the server and the name of the namespace into every
// container that has nothing mounted there. A Pod that has such a volume keeps it. A container that has a
// mount at that path has its own idea of a token, and keeps it; the volume is only added if some container
// uses it.
func (p *serviceAccountPlugin) mountToken(spec tree.Tree) {
	volume, has := p.tokenVolume(spec), true
	if volume == "" {
		volume, has = p.volumePrefix+randomSuffix(), false
	}
	mounted := false
	eachContainer(spec, podContainers, func(c tree.Tree, _ string, _ int) bool {
		if !p.hasMount(c) {
			appendItem(c, "volumeMounts", tree.Tree{"name": volume, "readOnly": true, "mountPath": p.mountPath})
			mounted = true
		}
		return true
	})
	if mounted && !has {
		appendItem(spec, "volumes", p.newTokenVolume(volume))
	}
}

// tokenVolume is the name of the volume that a Pod has of this plugin; "" if none.
func (p *serviceAccountPlugin) tokenVolume(spec tree.Tree) string {
	for _, item := range spec.List("volumes") {
		v, _ := item.(tree.Tree)
		if name := v.String("name"); strings.HasPrefix(name, p.volumePrefix) {
			return name
		}
	}
	return ""
}

// hasMount tells whether a container has something mounted where its token would be.
func (p *serviceAccountPlugin) hasMount(c tree.Tree) bool {
	for _, item := range c.List("volumeMounts") {
		if mount, _ := item.(tree.Tree); mount.String("mountPath") == p.mountPath {
			return true
		}
	}
	return false
}

// newTokenVolume is complete: nothing of it is set by default any more. Defaults have been set before
// admission, so what is added now must have them itself.
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

// randomSuffix makes the name of a volume one of its own: letters and digits that spell no words. The name
// may not collide with a volume of the client's own; it need not be unpredictable.
func randomSuffix() string {
	const letters, length = "bcdfghjklmnpqrstvwxz2456789", 5
	var suffix [length]byte
	for i := range suffix {
		suffix[i] = letters[rand.IntN(len(letters))]
	}
	return string(suffix[:])
}
