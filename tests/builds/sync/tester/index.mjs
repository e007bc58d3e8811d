n=0
until height=$(wget -q -O - "$1/height") && test "$height" -ge "$3"; do
  n=$((n + 1)); test "$n" -lt "$2" || exit 1
  sleep 1
done
echo "$(cat version): synced to $height on $(wget -q -O - "$1/network")"
