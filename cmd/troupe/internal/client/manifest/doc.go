// Package manifest reads objects from YAML or JSON files, directories, URLs, standard input, and
// kustomizations, which it builds with kustomize or kubectl.
package manifest
