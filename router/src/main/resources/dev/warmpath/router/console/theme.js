// Runs before the page is drawn, so that a chosen theme does not flash.
try {
  document.documentElement.dataset.theme = localStorage.getItem('warmpath.theme') ?? 'auto';
} catch {
  document.documentElement.dataset.theme = 'auto'; // no storage
}
