// Stands for an area below.
#pragma once
class Context {};
