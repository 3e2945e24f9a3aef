// Package config reads the file of --admission-control-config-file, which configures admission
// plugins.
//
// The file is an AdmissionConfiguration in YAML or JSON, of apiserver.config.platform.io/v1 or the
// deprecated apiserver.platform.io/v1alpha1:
//
//	apiVersion: apiserver.config.platform.io/v1
//	kind: AdmissionConfiguration
//	plugins:
//	- name: <plugin>
//	  configuration: <an object>   # or
//	  path: <its file, relative to this one>
//
// A Config passes each plugin its object uninterpreted. For compatibility, a file without kind that
// holds podNodeSelectorPluginConfig or imagePolicy is the object of PodNodeSelector or
// ImagePolicyWebhook.
//
// Invariant: unknown fields are errors that name the field.
package config
