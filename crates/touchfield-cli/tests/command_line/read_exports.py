"""Reads d.vti with PyVista and d.npz with NumPy, and compares both with s.csv: what `touchfield sample` gives at the points of p.csv."""

import numpy
import pyvista

points = numpy.loadtxt("p.csv", delimiter=",").astype("f4").astype("f8")
samples = numpy.loadtxt("s.csv", delimiter=",", skiprows=1)

image = pyvista.read("d.vti")
arrays = numpy.load("d.npz")
assert isinstance(image, pyvista.ImageData), type(image)
assert set(arrays.files) == {"distance", "origin", "cell_size", "error_bound", "solid"}, arrays.files

# The same grid in both.
distance = arrays["distance"]
assert distance.dtype == numpy.float32 and distance.shape == tuple(image.dimensions), distance.shape
assert numpy.allclose(image.origin, arrays["origin"], rtol=0, atol=1e-12)
assert numpy.allclose(image.spacing, arrays["cell_size"], rtol=0, atol=1e-12)
assert numpy.array_equal(image.point_data["distance"].reshape(distance.shape, order="F"), distance)
assert abs(image.field_data["error_bound"][0] - arrays["error_bound"]) < 1e-9
for node in [(0, 0, 0), (3, 5, 7), tuple(n - 1 for n in distance.shape)]:
    place = arrays["origin"] + arrays["cell_size"] * numpy.array(node)
    index = numpy.ravel_multi_index(node, distance.shape, order="F")
    assert numpy.allclose(image.points[index], place, atol=1e-6), node

# VTK interpolates as we do.
found = pyvista.PolyData(points.astype("f4")).sample(image)
inside = found["vtkValidPointMask"] == 1
assert inside.sum() > 0.9 * len(points), inside.sum()
error = abs(found["distance"] - samples[:, 0])[inside].max()
assert error < 1e-5, error

# The gradient of that, by differences within a cell.
fraction = (points - arrays["origin"]) / arrays["cell_size"] % 1
well_inside = inside & (fraction > 0.1).all(axis=1) & (fraction < 0.9).all(axis=1)
assert well_inside.sum() > 100, well_inside.sum()
for axis in range(3):
    shift = numpy.zeros(3)
    shift[axis] = 0.05 * float(arrays["cell_size"])
    ahead = pyvista.PolyData(points + shift).sample(image)["distance"]
    behind = pyvista.PolyData(points - shift).sample(image)["distance"]
    slope = (ahead - behind) / (2 * shift[axis])
    error = abs(slope - samples[:, 1 + axis])[well_inside].max()
    assert error < 2e-3, (axis, error)

print("values and gradients agree")
