package plugins

import (
	"fmt"
	"slices"

	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

var containerWords = map[string]string{
	"initContainers": "init container", "containers": "container", "ephemeralContainers": "ephemeral container",
}

var ephemeralContainers = []string{"ephemeralContainers"}

// checkPod rejects references to secrets that a limited account does not list. The annotation that
// limits an account is deprecated in favor of separate namespaces.
func (s *serviceAccount) checkPod(a *request.Attributes) error {
	if !s.limited {
		return nil
	}
	spec := a.New.Object("spec")
	for _, v := range spec.Objects("volumes") {
		if secret := v.Object("secret"); secret != nil && !s.secrets[secret.String("secretName")] {
			return s.refuse(a, fmt.Sprintf("volume with secret.secretName=%q", secret.String("secretName")), "secret")
		}
	}
	if err := s.checkContainers(a, podContainers); err != nil {
		return err
	}
	for i, ref := range spec.Objects("imagePullSecrets") {
		if name := ref.String("name"); !slices.Contains(s.pullSecrets, name) {
			return s.refuse(a, fmt.Sprintf("imagePullSecrets[%d].name=%q", i, name), "imagePullSecret")
		}
	}
	return nil
}

func (s *serviceAccount) checkContainers(a *request.Attributes, lists []string) error {
	if !s.limited {
		return nil
	}
	for list, c := range containers(a.New.Object("spec"), lists...) {
		who := containerWords[list] + " " + c.String("name")
		for _, env := range c.Objects("env") {
			if ref := env.Object("valueFrom", "secretKeyRef"); ref != nil && !s.secrets[ref.String("name")] {
				return s.refuse(a, fmt.Sprintf("%s with envVar %s referencing secret.secretName=%q", who, env.String("name"), ref.String("name")), "secret")
			}
		}
		for _, from := range c.Objects("envFrom") {
			if ref := from.Object("secretRef"); ref != nil && !s.secrets[ref.String("name")] {
				return s.refuse(a, fmt.Sprintf("%s with envFrom referencing secret.secretName=%q", who, ref.String("name")), "secret")
			}
		}
	}
	return nil
}

func (s *serviceAccount) refuse(a *request.Attributes, what, kind string) error {
	return a.Forbidden(what + " is not allowed because service account " + s.name + " does not reference that " + kind)
}

// checkMirror rejects mirror Pods that use an account or a secret. The node authorizer allows
// access to the objects that a node's Pods reference, so a node could otherwise use a mirror Pod to
// read any secret.
func checkMirror(a *request.Attributes) error {
	spec := a.New.Object("spec")
	switch {
	case spec.String("serviceAccountName") != "":
		return a.Forbidden("a mirror pod may not reference service accounts")
	case namesSecret(spec):
		return a.Forbidden("a mirror pod may not reference secrets")
	}
	for _, v := range spec.Objects("volumes") {
		for _, source := range v.Object("projected").Objects("sources") {
			if source.Has("serviceAccountToken") {
				return a.Forbidden("a mirror pod may not use ServiceAccountToken volume projections")
			}
		}
	}
	return nil
}

// namesSecret reports whether a Pod references any secret. It must check every field that can
// reference one, even in unmounted volumes.
func namesSecret(spec tree.Tree) bool {
	found := slices.ContainsFunc(spec.Objects("imagePullSecrets"), func(ref tree.Tree) bool { return ref.String("name") != "" }) ||
		slices.ContainsFunc(spec.Objects("volumes"), volumeNamesSecret)
	for _, c := range containers(spec, allContainers...) {
		found = found || slices.ContainsFunc(c.Objects("env"), func(env tree.Tree) bool {
			return env.Object("valueFrom", "secretKeyRef").String("name") != ""
		}) || slices.ContainsFunc(c.Objects("envFrom"), func(from tree.Tree) bool {
			return from.Object("secretRef").String("name") != ""
		})
	}
	return found
}

var secretRefVolumes = []string{"cephfs", "cinder", "flexVolume", "iscsi", "rbd", "scaleIO", "storageos"}

func volumeNamesSecret(v tree.Tree) bool {
	return v.Object("secret").String("secretName") != "" || v.Object("azureFile").String("secretName") != "" ||
		v.Object("csi", "nodePublishSecretRef").String("name") != "" ||
		slices.ContainsFunc(secretRefVolumes, func(source string) bool { return v.Object(source, "secretRef").String("name") != "" }) ||
		slices.ContainsFunc(v.Object("projected").Objects("sources"), func(s tree.Tree) bool { return s.Object("secret").String("name") != "" })
}
