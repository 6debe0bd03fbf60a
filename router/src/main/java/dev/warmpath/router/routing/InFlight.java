package dev.warmpath.router.routing;

/**
 * How the requests in flight are spread over the candidates.
 *
 * <p>Immutable.
 *
 * @param deviation the standard deviation
 */
record InFlight(int least, int most, double mean, double deviation) {

  static InFlight of(Candidates candidates) {
    int least = Integer.MAX_VALUE;
    int most = 0;
    double sum = 0;
    double squares = 0;
    for (int row = 0; row < candidates.count(); row++) {
      int requests = candidates.requests(row);
      least = Math.min(least, requests);
      most = Math.max(most, requests);
      sum += requests;
      squares += (double) requests * requests;
    }
    double mean = sum / candidates.count();
    double variance = squares / candidates.count() - mean * mean;
    return new InFlight(least, most, mean, Math.sqrt(Math.max(0, variance)));
  }

  int range() {
    return most - least;
  }
}
