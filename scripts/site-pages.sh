#!/bin/sh
# Fetches documentation as built HTML from Debian's -doc packages into FOLDER, for the tests and benchmarks of site search:
#
#     sh scripts/site-pages.sh FOLDER
#
# leaves some 5,000 pages in FOLDER/site, one folder for each package. Needs apt-get and dpkg, and the network once; what is
# there already is kept. Packages come in the version that the machine's Debian has, so figures name it: FOLDER/versions.txt.
set -eu

folder=${1:?usage: site-pages.sh FOLDER}
mkdir -p "$folder/debs"
cd "$folder"
[ -e versions.txt ] && exit 0

rm -rf site.tmp
# package, where its pages are, what the site calls them
while read -r package pages name; do
  ls debs/"$package"_*.deb >/dev/null 2>&1 || (cd debs && apt-get download -qq "$package")
  rm -rf unpacked && mkdir unpacked
  dpkg -x debs/"$package"_*.deb unpacked
  # Lists of all words, sources and redirects are no pages that anybody looks for.
  (cd "unpacked/usr/share/doc/$pages" && find . -name '*.html' -type f \
    ! -path '*/_modules/*' ! -path '*/_static/*' ! -path '*/_sources/*' ! -name 'genindex*' ! -name 'search.html' \
    ! -name 'py-modindex.html' ! -name 'XREF*' -print0) > names.tmp
  mkdir -p "site.tmp/$name"
  (cd "unpacked/usr/share/doc/$pages" && xargs -0 cp --parents -t "$OLDPWD/site.tmp/$name") < names.tmp
done <<END
python3.11-doc python3.11/html python
cmake-doc cmake-data/html cmake
postgresql-doc-15 postgresql-doc-15/html postgresql
python-django-doc python-django-doc/html django
git-doc git-doc git
python-sqlalchemy-doc python-sqlalchemy-doc/html sqlalchemy
sphinx-doc sphinx-doc/html sphinx
apache2-doc apache2-doc/manual/en apache
octave-doc octave/octave.html octave
END
rm -rf unpacked names.tmp site
mv site.tmp site
find site -name '*.html' | wc -l
(cd debs && ls) > versions.txt
