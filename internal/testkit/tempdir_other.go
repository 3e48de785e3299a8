//go:build !linux

package testkit

// memoryDir returns "": it is not implemented here.
func memoryDir() (dir string, remove func()) { return "", func() {} }
