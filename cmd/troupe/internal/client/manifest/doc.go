// Package manifest reads objects from YAML or JSON files, directories, URLs, standard input, and
// kustomizations, which the program kustomize builds.
package manifest
