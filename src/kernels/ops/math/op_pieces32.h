/* op_pieces32.h - tables of piecewise polynomials for op_lanes32.h, in PIECES pieces.
 *
 * Column j of a table belongs to piece j: the middle of the piece, then the coefficients of the
 * powers of the distance from it.  One permutation looks up a row; the more pieces, the fewer
 * rows.
 *
 * tanh_pieces  tanh(v) for v in [0, 9.03], to 2^-26; tanh of a middle is nearly an f32
 * gelu_pieces  v erfc(v / sqrt(2)) / 2 * 2^(v v / GELU_LN2) for v in [0, 14.9], to 2^-23
 * …_INDEX      a number whose lowest exponent bits and highest fraction bits are the index of
 *              the piece
 * GELU_EXP     powers of r in -2^(-64 - r / GELU_LN2), for |r| <= GELU_LN2 / PIECES / 2
 * exp_pieces   2^(64 + j / PIECES), minus the j that is added with the exponent */
#ifndef TNI_OP_PIECES32_H
#define TNI_OP_PIECES32_H

/* 2 log(2), rounded so that its product with a multiple of 1 / PIECES below 2^8 is exact. */
#define GELU_LN2 0x1.63p+0f

#define PIECE_SHIFT (0x1.8p23f / PIECES) /* adding it leaves multiples of 1 / PIECES */

/* clang-format off */
#if defined(__AVX2__) && !defined(__AVX512F__)
enum { PIECE_BITS = 3, PIECES = 8, TANH_DEGREE = 7, GELU_DEGREE = 7 };
#define TANH_INDEX(v) mad(v, SPLAT(1.245f), 0.75f)
#define GELU_INDEX(v) mad(v, SPLAT(0.75f), 0.75f)
#define GELU_EXP1     0x1.ffd7e2p-66f
#define GELU_EXP2     -0x1.ffc0d4p-68f
#define GELU_EXP3     0x1.5510c4p-70f
static const float tanh_pieces[][8] = {
    {0x1.6b9e1ap+0f, 0x1.1fc3ecp+1f, 0x1.ab621ap+1f, 0x1.39cc96p+2f, 0x1.d3dc9ap+2f, 0,
     0x1.8892b2p-2f, 0x1.9411c2p-1f},
    {0x1.c783eep-1f, 0x1.f4b56p-1f, 0x1.feb684p-1f, 0x1.fff18ep-1f, 0x1.ffffe2p-1f, 0,
     0x1.766854p-2f, 0x1.50df68p-1f},
    {0x1.aaf388p-3f, 0x1.65580cp-5f, 0x1.49130ap-8f, 0x1.ce3ca2p-13f, 0x1.e075f8p-20f, 0x1p+0f,
     0x1.bb8d6p-1f, 0x1.225a66p-1f},
    {-0x1.7bd938p-3f, -0x1.5d765ap-5f, -0x1.484512p-8f, -0x1.ce35eap-13f, -0x1.e4eabep-20f,
     -0x1.25d218p-27f, -0x1.445a96p-2f, -0x1.7e141p-2f},
    {0x1.87412ep-4f, 0x1.bd43f6p-6f, 0x1.b34db6p-9f, 0x1.33d51cp-13f, 0x1.3de906p-20f,
     -0x1.55552p-2f, -0x1.62367ep-3f, 0x1.ce9134p-5f},
    {-0x1.7bb2f6p-6f, -0x1.951824p-7f, -0x1.ae00cp-10f, -0x1.331c3p-14f, -0x1.2838bep-21f,
     -0x1.99d3b8p-16f, 0x1.59ac12p-3f, 0x1.65555ap-4f},
    {-0x1.b1a30ap-8f, 0x1.071612p-8f, 0x1.543d68p-11f, 0x1.f30af6p-16f, 0x1.0441ep-22f,
     0x1.11c272p-3f, 0x1.ef6e1ep-7f, -0x1.045e26p-4f},
    {0x1.3cd2f8p-7f, -0x1.6b617ep-11f, -0x1.c8eabap-13f, -0x1.5d6466p-17f, -0x1.d66aaap-24f,
     -0x1.2755d6p-9f, -0x1.136bd8p-4f, 0x1.e5e1dep-9f},
    {-0x1.1fde7p-8f, -0x1.957e2ep-13f, 0x1.9fffb6p-15f, 0x1.4196bap-19f, 0x1.b15a98p-26f,
     -0x1.86e40ep-5f, 0x1.f13c3ep-7f, 0x1.1da29cp-6f},
};
static const float gelu_pieces[][8] = {
    {0x1.2ac058p+1f, 0x1.d54932p+1f, 0x1.6a9908p+2f, 0x1.0a9b0ep+3f, 0x1.8a9624p+3f, 0,
     0x1.5569dcp-1f, 0x1.557116p+0f},
    {0x1.6486bep-2f, 0x1.7e6934p-2f, 0x1.8ae1bep-2f, 0x1.8e9ce2p-2f, 0x1.8c8c0ep-2f, 0,
     0x1.ae8e24p-3f, 0x1.2edf84p-2f},
    {0x1.ff2a28p-6f, 0x1.67b3acp-7f, 0x1.8d3116p-9f, 0x1.16c2fcp-12f, -0x1.163314p-10f, 0x1p-1f,
     0x1.83eaep-3f, 0x1.58d128p-4f},
    {-0x1.c4b93p-7f, -0x1.f9076cp-9f, -0x1.f0a4f8p-11f, -0x1.21e33cp-12f, -0x1.ba6632p-14f,
     -0x1.988452p-2f, -0x1.0133eap-3f, -0x1.805a16p-5f},
    {0x1.4a3fa4p-8f, 0x1.1a58e4p-10f, 0x1.8227fcp-13f, 0x1.12cb6ep-15f, 0x1.64c2cp-18f,
     0x1.ffd72ap-3f, 0x1.11b826p-4f, 0x1.5d8d9ap-6f},
    {-0x1.ae79dp-10f, -0x1.2230fep-12f, -0x1.2514fp-15f, -0x1.2fb376p-18f, -0x1.07ddfp-21f,
     -0x1.10287cp-3f, -0x1.f6be58p-6f, -0x1.169092p-7f},
    {0x1.016fc6p-11f, 0x1.155642p-14f, 0x1.a3c1cap-18f, 0x1.40c068p-21f, 0x1.8bf1d8p-25f,
     0x1.fd51f8p-5f, 0x1.9cc914p-7f, 0x1.916a4cp-9f},
    {-0x1.30f43ep-13f, -0x1.04296ap-16f, -0x1.3c213cp-20f, -0x1.55236cp-24f, -0x1.3efea6p-28f,
     -0x1.9c78e4p-6f, -0x1.3df552p-8f, -0x1.106e02p-10f},
    {0x1.45d89ep-15f, 0x1.c4477ap-19f, 0x1.a761c6p-23f, 0x1.5379b4p-27f, 0x1.c86d4p-32f,
     0x1.c8a97cp-8f, 0x1.c70fe8p-10f, 0x1.5ab62p-12f},
};
static const float exp_pieces[8] = {
    0x1p+64f, 0x1.f72b84p+63f, 0x1.f06fep+63f, 0x1.ebfdaep+63f, 0x1.ea09e6p+63f,
    0x1.eace54p+63f, 0x1.ee89fap+63f, 0x1.f5818ep+63f,
};
#else
enum { PIECE_BITS = 4, PIECES = 16, TANH_DEGREE = 6, GELU_DEGREE = 5 };
#define TANH_INDEX(v) ((v) + SPLAT(0.625f))
#define GELU_INDEX(v) ((v) + SPLAT(1.0f))
#define GELU_EXP1     0x1.ffd7e4p-66f
#define GELU_EXP2     -0x1.ffb40cp-68f
#define GELU_EXP3     0x1.55080ap-70f
static const float tanh_pieces[][16] = {
    {0x1.a9a2d6p+0f, 0x1.07f784p+1f, 0x1.5599dep+1f, 0x1.98b12ep+1f, 0x1.e6398p+1f,
     0x1.4118a6p+2f, 0x1.80f8aep+2f, 0x1.b16c7cp+2f, 0x1.0a29ep+3f, 0, 0x1.73020cp-3f,
     0x1.36d28ep-2f, 0x1.f2652p-2f, 0x1.76b1e6p-1f, 0x1.fa34e4p-1f, 0x1.3d9f9p+0f},
    {0x1.dc73fp-1f, 0x1.efb41cp-1f, 0x1.fb19b2p-1f, 0x1.fe46f4p-1f, 0x1.ff7c84p-1f,
     0x1.fff48p-1f, 0x1.fffe7p-1f, 0x1.ffffa8p-1f, 0x1.fffffcp-1f, 0, 0x1.6f0086p-3f,
     0x1.2d9da2p-2f, 0x1.ce7162p-2f, 0x1.3f94aep-1f, 0x1.837b6ap-1f, 0x1.b0fa4ep-1f},
    {0x1.12814ap-3f, 0x1.0097f4p-4f, 0x1.381366p-6f, 0x1.b84e06p-8f, 0x1.06d6cep-9f,
     0x1.6ffabap-13f, 0x1.8ffe34p-16f, 0x1.5fff9ep-18f, 0x1.001316p-22f, 0x1p+0f,
     0x1.ef8eecp-1f, 0x1.d3947ep-1f, 0x1.979452p-1f, 0x1.38861p-1f, 0x1.b581a2p-2f,
     0x1.23b244p-2f},
    {-0x1.fee3f4p-4f, -0x1.f0da9p-5f, -0x1.3516fep-6f, -0x1.b6d33ap-8f, -0x1.068d68p-9f,
     -0x1.7000dp-13f, -0x1.900d28p-16f, -0x1.5ff1ap-18f, -0x1.00e878p-22f, -0x1.515abp-25f,
     -0x1.63377p-3f, -0x1.1372bap-2f, -0x1.70211p-2f, -0x1.862486p-2f, -0x1.4b1aeap-2f,
     -0x1.ed5a06p-3f},
    {0x1.247052p-4f, 0x1.35fa32p-5f, 0x1.9435ap-7f, 0x1.229588p-8f, 0x1.5d35bep-10f,
     0x1.eacf68p-14f, 0x1.0acebep-16f, 0x1.d537cap-19f, 0x1.549048p-23f, -0x1.55542ap-2f,
     -0x1.2a8b72p-2f, -0x1.cd2cep-3f, -0x1.a5e52ep-4f, 0x1.195984p-5f, 0x1.a2fb0cp-4f,
     0x1.bd7d3p-4f},
    {-0x1.98225ap-6f, -0x1.0cdb34p-6f, -0x1.846feep-8f, -0x1.1e65d2p-9f, -0x1.5d5fe8p-11f,
     -0x1.e5c6a2p-15f, -0x1.08213ep-17f, -0x1.d845c8p-20f, -0x1.45d834p-24f, -0x1.5948e6p-13f,
     0x1.c2c27ep-4f, 0x1.3f5bep-3f, 0x1.549aep-3f, 0x1.b0363cp-4f, 0x1.f148f2p-6f,
     -0x1.7e95c2p-7f},
    {0x1.153f48p-9f, 0x1.3115d6p-8f, 0x1.1f0f7ep-9f, 0x1.be479ep-11f, 0x1.1c0e9ap-12f,
     0x1.84fc8cp-16f, 0x1.a7e536p-19f, 0x1.7f704ap-21f, 0x1.2511c2p-25f, 0x1.16826p-3f,
     0x1.94d53ep-4f, 0x1.949fbp-5f, -0x1.70fe56p-6f, -0x1.037acep-4f, -0x1.856bf2p-5f,
     -0x1.4a2552p-6f},
    {0x1.130b9ep-8f, -0x1.1502ep-11f, -0x1.4e2ea4p-11f, -0x1.3eb78ap-12f, -0x1.4519d8p-14f,
     -0x1.65e02ep-17f, -0x1.8506c8p-20f, -0x1.a2c07ep-23f, -0x1.09ca7p-26f, -0x1.403db6p-6f,
     -0x1.d432a6p-5f, -0x1.0bbbbcp-4f, -0x1.9deb1ep-5f, -0x1.76ffc2p-10f, 0x1.3c3fd8p-6f,
     0x1.f5378ap-7f},
};
static const float gelu_pieces[][16] = {
    {0x1.3ffdbp+0f, 0x1.bff0aep+0f, 0x1.1febc4p+1f, 0x1.600d96p+1f, 0x1.bfec0ep+1f,
     0x1.2012cap+2f, 0x1.60029ap+2f, 0x1.9fe6dap+2f, 0x1.ffe802p+2f, 0x1.3ff6cp+3f,
     0x1.800612p+3f, 0x1.bfe44p+3f, 0, 0x1.7fe974p-2f, 0x1.4014dp-1f, 0x1.bfec0ep-1f},
    {0x1.274c9cp-2f, 0x1.4bc444p-2f, 0x1.61b7fap-2f, 0x1.6fb454p-2f, 0x1.7c6b68p-2f,
     0x1.85928ap-2f, 0x1.8a574ep-2f, 0x1.8ce328p-2f, 0x1.8e7d52p-2f, 0x1.8e67e4p-2f,
     0x1.8ce4d2p-2f, 0x1.8a757ep-2f, 0, 0x1.237ae2p-3f, 0x1.9defbp-3f, 0x1.f53eb8p-3f},
    {0x1.7af2d8p-4f, 0x1.bbbf6cp-5f, 0x1.13a7cep-5f, 0x1.66dfc6p-6f, 0x1.94f99ep-7f,
     0x1.9bb4cep-8f, 0x1.b856bap-9f, 0x1.cf58a4p-10f, 0x1.e3ed32p-12f, -0x1.d63dbp-12f,
     -0x1.0378a2p-10f, -0x1.68b604p-10f, 0x1.fffffep-2f, 0x1.22327p-2f, 0x1.9a14ccp-3f,
     0x1.28a228p-3f},
    {-0x1.af5b76p-5f, -0x1.bf46f4p-6f, -0x1.f109d8p-7f, -0x1.249bbcp-7f, -0x1.2311c4p-8f,
     -0x1.08161p-9f, -0x1.11d854p-10f, -0x1.3c45cp-11f, -0x1.478c2cp-12f, -0x1.5ea88ep-13f,
     -0x1.d1e1eep-14f, -0x1.661d02p-14f, -0x1.988254p-2f, -0x1.a0d71p-3f, -0x1.12fb4cp-3f,
     -0x1.74121ep-4f},
    {0x1.8fedd8p-6f, 0x1.72419ap-7f, 0x1.711d86p-8f, 0x1.87976ap-9f, 0x1.4ff2e2p-10f,
     0x1.f9e29ap-12f, 0x1.b68b9cp-13f, 0x1.a78b62p-14f, 0x1.4b5422p-15f, 0x1.d76878p-17f,
     0x1.940302p-18f, 0x1.93be8ep-19f, 0x1.ff525ep-3f, 0x1.dc2c88p-4f, 0x1.27963ep-4f,
     0x1.78bb6cp-5f},
    {-0x1.47f25ap-7f, -0x1.1174aap-8f, -0x1.ed5b6ap-10f, -0x1.dbc518p-11f, -0x1.6a8652p-12f,
     -0x1.ce1c12p-14f, -0x1.5959p-15f, -0x1.23f9e8p-16f, -0x1.85bed8p-18f, -0x1.bf25f8p-20f,
     -0x1.3a001ep-21f, -0x1.feb3bcp-23f, -0x1.0a2e32p-3f, -0x1.d3f8ep-5f, -0x1.12eef6p-5f,
     -0x1.4be3e6p-6f},
    {0x1.e34d86p-9f, 0x1.6d9884p-10f, 0x1.2c9436p-11f, 0x1.0987c6p-12f, 0x1.65af4cp-14f,
     0x1.87381cp-16f, 0x1.fc090cp-18f, 0x1.79ef54p-19f, 0x1.ac9fd2p-21f, 0x1.95a16cp-23f,
     0x1.e50dfap-25f, 0x1.58287p-26f, 0x1.8b09acp-5f, 0x1.99e9c6p-6f, 0x1.c9f39ep-7f,
     0x1.0541cep-7f},
};
static const float exp_pieces[16] = {
    0x1p+64f, 0x1.fb5586p+63f, 0x1.f72b84p+63f, 0x1.f387a6p+63f, 0x1.f06fep+63f,
    0x1.edea64p+63f, 0x1.ebfdaep+63f, 0x1.eab07ep+63f, 0x1.ea09e6p+63f, 0x1.ea1148p+63f,
    0x1.eace54p+63f, 0x1.ec4918p+63f, 0x1.ee89fap+63f, 0x1.f199bep+63f, 0x1.f5818ep+63f,
    0x1.fa4afap+63f,
};
#endif
/* clang-format on */

#endif
