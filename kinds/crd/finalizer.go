package crd

// CleanupFinalizer, in the platform naming profile, delays the deletion of a CRD until its objects
// are removed.
const CleanupFinalizer = "customresourcecleanup.apiextensions.platform.io"
