// Package plugins tests the admission plugins that are not about Pods, through the real daemon and, where
// names differ, in both naming profiles.
package plugins
