// Something to compile: CMake keeps parsed headers with a target that has a source.
