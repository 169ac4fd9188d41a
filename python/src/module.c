/* module.c - tenon._core: the types and functions of C, for one interpreter. */
#include "core.h"

static int64_t home = -1; /* the interpreter that imported the module */
static PyObject *python_side;

/* Functions that the Python side registers under a name, for slots and rare paths. */
PyObject *tpy_python(const char *name)
{
    PyObject *f = python_side ? PyDict_GetItemString(python_side, name) : NULL;
    if (!f)
        PyErr_Format(PyExc_RuntimeError, "tenon._core.register has no %s", name);
    return f;
}

static PyObject *f_register(PyObject *self, PyObject *args, PyObject *kwargs)
{
    (void)self, (void)args;
    if (!python_side)
        python_side = PyDict_New();
    if (!python_side || !kwargs || PyDict_Update(python_side, kwargs) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef own_functions[] = {
    {"register", (PyCFunction)(void (*)(void))f_register, METH_VARARGS | METH_KEYWORDS,
     "register(**functions)\n--\n\nNames of the Python side that slots call."},
    {NULL, NULL, 0, NULL},
};

static int ready(PyObject *module)
{
    int64_t here = PyInterpreterState_GetID(PyInterpreterState_Get());
    if (home != -1 && home != here) {
        PyErr_SetString(PyExc_ImportError, "tenon is loaded in another interpreter already");
        return -1;
    }
    home = here;
    if (tpy_errors_ready(module) < 0 || tpy_dtype_ready(module) < 0 ||
        tpy_tensor_ready(module) < 0 || tpy_take_in_ready(module) < 0 ||
        tpy_files_ready(module) < 0 || tpy_plans_ready(module) < 0)
        return -1;
    PyMethodDef *lists[] = {tpy_functions,         tpy_view_functions, tpy_work_functions,
                            tpy_reduce_functions,  tpy_scan_functions, tpy_choose_functions,
                            tpy_product_functions, tpy_expr_functions, own_functions};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (PyModule_AddFunctions(module, lists[i]) < 0)
            return -1;
    return 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, ready},
#if !defined(Py_LIMITED_API) && defined(Py_GIL_DISABLED)
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "tenon._core",
    .m_doc = "The C side of tenon.",
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&definition);
}
