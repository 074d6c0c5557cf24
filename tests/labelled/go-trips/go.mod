module trips

go 1.19
