package crd

// CleanupFinalizer delays the deletion of a CRD until its objects are removed. The name belongs to
// the platform naming profile.
const CleanupFinalizer = "customresourcecleanup.apiextensions.platform.io"
