// Package config reads the file of --admission-control-config-file, which configures admission plugins.
//
// The file is an AdmissionConfiguration, in YAML or JSON, of the group apiserver.config.platform.io in version
// v1 or, deprecated, of apiserver.platform.io in version v1alpha1:
//
//	apiVersion: apiserver.config.platform.io/v1
//	kind: AdmissionConfiguration
//	plugins:
//	- name: <plugin>
//	  configuration: <an object>   # or
//	  path: <its file, relative to this one>
//
// A Config hands each plugin its object as it stands; what it means is the plugin's affair. A file without
// a kind that holds podNodeSelectorPluginConfig or imagePolicy is, as it was before there were such files, the object of
// PodNodeSelector or ImagePolicyWebhook.
//
// Invariant: what the file says and nobody would read is an error that names the field.
package config
