// Package manifest reads objects from YAML or JSON files, directories, URLs, standard input, and
// kustomizations. It runs kustomize or kubectl to build kustomizations.
package manifest
