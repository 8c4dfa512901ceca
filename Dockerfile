# The command line and the studio, as a user who is not root. What is to be kept lies in /data: mount a folder there.
#
#   docker build --tag understudy .
#   docker run --rm --network host -v "$PWD:/data" understudy studio --no-browser     # open the address that it prints
#   docker run --rm -v "$PWD:/data" understudy fit people.csv --schema people.toml --epsilon 1 --delta 1e-9 -o people.release
FROM python:3.12-slim AS wheel
WORKDIR /source
COPY pyproject.toml hatch_build.py compile_kernels.py README.md LICENSE CHANGELOG.md CITATION.cff SECURITY.md ./
COPY src ./src
# With what the product needs beside it, hatchling puts compiled kernels into the wheel: no container compiles.
RUN pip install --no-cache-dir hatchling . && python -m hatchling build --target wheel --directory /wheel

FROM python:3.12-slim
COPY --from=wheel /wheel/*.whl /tmp/
RUN pip install --no-cache-dir "$(echo /tmp/*.whl)[pandas,evaluate,sign,excel,fake,studio]" && rm /tmp/*.whl \
    && useradd --uid 1000 --create-home understudy \
    && mkdir /data && chown understudy /data
USER understudy
WORKDIR /data
# Charges must outlive the container: the ledger lies in the mounted folder. Other compiled kernels may be lost.
ENV UNDERSTUDY_LEDGER=/data/ledger.sqlite NUMBA_CACHE_DIR=/home/understudy/.cache/numba
ENTRYPOINT ["understudy"]
CMD ["--help"]
