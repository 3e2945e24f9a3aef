// Package manifest reads objects from YAML or JSON files, directories, URLs, standard input, and
// kustomizations. The kustomize program or kubectl builds kustomizations.
package manifest
