(() => {
  const all = (selector) => Array.from(document.querySelectorAll(selector));
  const slow = () => !window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  const source = document.getElementById("moving");
  const moving = source ? JSON.parse(source.textContent) : null;
  let attribute = 0;
  let model = moving ? moving.start : 0;

  // Which attribute colours the pictures.
  const choose = (number) => {
    attribute = number;
    all("[data-attribute]").forEach((part) => { part.hidden = Number(part.dataset.attribute) !== number; });
    all("input.attribute").forEach((input) => { input.checked = Number(input.value) === number; });
    if (moving) { colour(); write(); }
  };
  all("fieldset.attributes").forEach((field) => { field.hidden = false; });
  all("input.attribute").forEach((input) => input.addEventListener("change", () => choose(Number(input.value))));

  // The slider along the path.
  const slider = document.getElementById("slider");
  const points = all("#points use");
  let shown = moving && moving.points ? moving.points[model].slice() : [];
  let frame = 0;

  const colour = () => points.forEach((point, k) => {
    const group = moving.codes[attribute][k];
    point.setAttribute("class", group < 0 ? "nobody" : "g" + group);
    point.setAttribute("href", "#m" + Math.max(group, 0));
  });
  const place = () => {
    const [left, top, width, height] = moving.box;
    points.forEach((point, k) => {
      point.setAttribute("x", (left + width * shown[2 * k] / 999).toFixed(1));
      point.setAttribute("y", (top + height * (1 - shown[2 * k + 1] / 999)).toFixed(1));
    });
  };
  const move = () => {
    if (!moving.points) return;
    cancelAnimationFrame(frame);
    const from = shown.slice();
    const to = moving.points[model];
    if (!slow()) { shown = to.slice(); place(); return; }
    const start = performance.now();
    const step = (now) => {
      const share = Math.min(1, Math.max(0, (now - start) / 250));
      shown = from.map((value, k) => value + share * (to[k] - value));
      place();
      if (share < 1) frame = requestAnimationFrame(step);
    };
    frame = requestAnimationFrame(step);
  };
  const write = () => {
    const numbers = moving.models[model];
    const values = Object.assign({ variance: numbers.variance, tolerance: numbers.tolerance },
      numbers.by_attribute[attribute]);
    Object.keys(values).forEach((name) => {
      const place = document.getElementById("now-" + name);
      if (place) place.textContent = values[name];
    });
    moving.curves.forEach((curve, k) => {
      ["fitted", "new"].forEach((name) => {
        const mark = document.getElementById("mark-" + name + "-" + k);
        mark.setAttribute("x", curve[name][model]);
        mark.setAttribute("y", curve.y[model]);
      });
    });
    all("tr[data-model]").forEach((row) => row.classList.toggle("current", Number(row.dataset.model) === model));
    slider.setAttribute("aria-valuetext", "Step " + (model + 1) + " of " + moving.models.length + ": keeps " +
      values.variance + " of the variance; measure on new people " + values.new + ", chance shows " + values.chance);
  };
  if (moving) {
    document.getElementById("controls").hidden = false;
    slider.value = String(model);
    slider.addEventListener("input", () => { model = Number(slider.value); write(); move(); });
  }
  choose(0);
})();
